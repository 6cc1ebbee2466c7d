// npm run test:generators
//
// Compiles what swagger-typescript-api makes of docs/openapi.json under the strict rules of TypeScript. The generator brings
// 60 MB of packages that nothing else needs, so it is no development dependency: it is installed once, in exactly this version,
// into node_modules/.cache. Generators that are small are tried by test/processes/generated-clients.spec.ts.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const NAME = 'swagger-typescript-api';
const VERSION = '13.13.0';
const RULES = ['--ignoreConfig', '--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2023,dom,dom.iterable'];
const MODULES = ['--module', 'esnext', '--moduleResolution', 'bundler'];

const generator = installed();
const folder = mkdtempSync(join(tmpdir(), 'generators-'));
try {
  const config = join(ROOT, 'clients', `${NAME}.config.mjs`);
  const document = join(ROOT, 'docs', 'openapi.json');
  node([generator, 'generate', '-p', document, '-o', folder, '-n', 'api.ts', '--custom-config', config]);
  node([join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), ...RULES, ...MODULES, join(folder, 'api.ts')]);
  process.stderr.write(`What ${NAME} ${VERSION} makes of docs/openapi.json compiles.\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The program of the generator, which is installed once. */
function installed() {
  const home = join(ROOT, 'node_modules', '.cache', 'generators', `${NAME}-${VERSION}`);
  const program = join(home, 'node_modules', NAME, 'dist', 'cli.mjs');
  if (existsSync(program)) return program;
  mkdirSync(home, { recursive: true });
  const options = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const cli = process.env.npm_execpath ?? '';
  const args = ['install', ...options, '--prefix', home, `${NAME}@${VERSION}`];
  if (basename(cli) === 'npm-cli.js') node([cli, ...args]);
  else run('npm', args);
  return program;
}

function node(args) {
  run(process.execPath, args);
}

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status === 0) return;
  process.stderr.write(`Failed: ${basename(command)} ${args.slice(0, 2).join(' ')}\n`);
  process.exit(1);
}
