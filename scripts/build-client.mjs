// npm run client:build
//
// Builds clients/typescript for import and for require, into its dist folder.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const client = join(root, 'clients', 'typescript');
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const [, , target = join(client, 'dist')] = process.argv;

rmSync(target, { recursive: true, force: true });
// What is right for one is right for the other: the second is not checked again.
for (const [format, config, ...more] of [
  ['esm', 'tsconfig.json'],
  ['cjs', 'tsconfig.cjs.json', '--noCheck'],
]) {
  const options = ['-p', join(client, config), '--outDir', join(target, format), ...more];
  const { status } = spawnSync(process.execPath, [tsc, ...options], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
// The package is of ES modules; this half of it is not.
writeFileSync(join(target, 'cjs', 'package.json'), '{ "type": "commonjs", "sideEffects": false }\n');
