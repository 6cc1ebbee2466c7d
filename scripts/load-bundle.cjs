// require('./load-bundle.cjs').run('main') runs a program of the bundle; node dist/load-bundle.cjs writes the code cache.
// The build copies this file beside the bundle.
//
// The cache holds what V8 has compiled of the bundle (docs/adr/0069). It is for the very Node.js that has built it: releases
// with one version of V8 may crash on each other's. V8 refuses it where its flags are others than at the build, or the bundle
// has another length. Without it V8 compiles the bundle itself: the start takes longer, and nothing else changes.
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const { createRequire, wrap } = require('node:module');
const { join } = require('node:path');
const process = require('node:process');
const { Script } = require('node:vm');

const BUNDLE = join(module.path, 'bundle.js');
const CACHE = join(module.path, `bundle.${process.version}-${process.arch}.cache`);

const script = new Script(wrap(readFileSync(BUNDLE, 'latin1')), {
  filename: BUNDLE,
  cachedData: readCache(),
  importModuleDynamically: (specifier) => import(specifier),
});
const bundle = { exports: {} };
script.runInThisContext()(bundle.exports, createRequire(BUNDLE), bundle, BUNDLE, module.path);

/** A folder without a cache runs the same programs. */
function readCache() {
  try {
    return readFileSync(CACHE);
  } catch {
    return undefined;
  }
}

function run(program) {
  bundle.exports[program]();
}

module.exports = { run };

if (require.main === module) {
  // Functions that no module calls while it is loaded are compiled when they are first called.
  run('modules');
  writeFileSync(`${CACHE}.new`, script.createCachedData());
  renameSync(`${CACHE}.new`, CACHE);
  // Some modules keep timers.
  process.exit();
}
