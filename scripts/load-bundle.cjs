// require('./load-bundle.cjs').run('main') runs a program of the bundle; node dist/load-bundle.cjs writes the code cache.
// The build copies this file beside the bundle.
//
// The cache holds what V8 has compiled of the bundle (docs/adr/0069). It is for the very Node.js that has built it: releases
// with one version of V8 may crash on each other's. V8 refuses it where its flags are others than at the build, or the bundle
// has another length. Without it V8 compiles the bundle itself: the start takes longer, and nothing else changes.
// Workers of a cluster run with flags of their own, so they have a cache of their own.
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const process = require('node:process');
const { Script } = require('node:vm');

const BUNDLE = join(module.path, 'bundle.js');
const WORKER = 'cluster-worker';

// Node.js 21 and newer have it. Without it pg looks at the global Response, for which Node.js loads forty modules of its own.
globalThis.navigator ??= { userAgent: `Node.js/${process.versions.node.split('.')[0]}` };

/** Runs a program of the bundle. */
function run(program) {
  load(cacheOf(program)).exports[program]();
}

function cacheOf(program) {
  return join(module.path, `bundle.${process.version}-${process.arch}${program === WORKER ? '.worker' : ''}.cache`);
}

/** The file holds a function already: to wrap its text here would copy all of it. */
function load(cache) {
  const script = new Script(readFileSync(BUNDLE, 'latin1'), {
    filename: BUNDLE,
    cachedData: readIfThere(cache),
    importModuleDynamically: (specifier) => import(specifier),
  });
  const bundle = { exports: {} };
  script.runInThisContext()(bundle.exports, createRequire(BUNDLE), bundle, BUNDLE, module.path);
  return { script, exports: bundle.exports };
}

/** A folder without a cache runs the same programs. */
function readIfThere(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** Functions that no module calls while it is loaded are compiled when they are first called. */
function writeCache(program) {
  const cache = cacheOf(program);
  const { script, exports } = load(cache);
  exports.modules();
  writeFileSync(`${cache}.new`, script.createCachedData());
  renameSync(`${cache}.new`, cache);
}

module.exports = { run };

if (require.main === module) {
  writeCache(process.argv[2]);
  // Some modules keep timers.
  process.exit();
}
