const { existsSync } = require('node:fs');
const { Module, createRequire, isBuiltin } = require('node:module');
const { dirname, join, resolve, sep } = require('node:path');
const { Script } = require('node:vm');
const { jestsOwn } = require('./jests-own.cjs');

const { default: Runtime } = jestsOwn('jest-runtime');

const ROOT = join(module.path, '..', '..', '..');
/** The code under test, and what a worker keeps for all its spec files (shared-services.cjs, start-once.cjs). */
const SHARED = ['src', 'clients/typescript/src', 'test/support/jest'].map((folder) => join(ROOT, folder) + sep);

/** Paths, and the module that Jest provides itself. */
const NOT_A_PACKAGE = /^(?:[./]|@jest\/globals$)/;

/** Compiled modules below `test/`, by path: a worker compiles each of them once, and runs it for each spec file. */
const scripts = new Map();
/** The source map of each shared module, for the stacks of all spec files. */
const sourceMaps = new Map();
/** Of the runtime that was made last; all of them transform in the same way. */
let transforms;

/**
 * Loads packages and the code under test once for all spec files of a worker, by Node.js itself, as in production. Loading
 * 2,000 modules again for each of 200 spec files took half of the time, and V8 had to optimise them again each time. Other
 * modules below `test/` are loaded for each spec file. So `jest.mock` replaces neither packages nor modules of `src`, and a
 * spy on a class of theirs lasts until the spec file ends (one-realm-environment.cjs).
 */
class SharedModulesRuntime extends Runtime {
  constructor(...args) {
    super(...args);
    if (typeof this.executor?.compile !== 'function' || typeof this.transformCache?.transform !== 'function') {
      throw new Error('This runtime was written for another version of Jest: see executor and transformCache');
    }
    // As the method that it stands for, in the one realm that there is (one-realm-environment.cjs).
    this.executor.compile = (source, filename) => this.#compile(source, filename);
    transforms = this.transformCache;
  }

  requireModuleOrMock(from, name) {
    return isShared(from, name) ? createRequire(from)(name) : super.requireModuleOrMock(from, name);
  }

  getSourceMaps() {
    const all = super.getSourceMaps();
    for (const [path, map] of sourceMaps) all.set(path, map);
    return all;
  }

  #compile(source, filename) {
    const known = scripts.get(filename);
    if (known?.source === source) return known.script.runInThisContext();
    const parameters = this.executor.injectedModuleParameters.join(',');
    const script = new Script(`(function(${parameters}){${source}\n})`, { filename });
    if (!filename.endsWith('.spec.ts')) scripts.set(filename, { source, script });
    return script.runInThisContext();
  }
}

function isShared(from, name) {
  if (isBuiltin(name)) return false;
  if (!NOT_A_PACKAGE.test(name)) return true;
  if (!name.startsWith('.')) return false;
  const path = resolve(dirname(from), name);
  return SHARED.some((folder) => path.startsWith(folder)) && !path.endsWith('.spec.ts');
}

// Resolves `./name` to `name.ts`, and loads that.
Module._extensions['.ts'] = (loaded, path) => {
  const code = transforms.transform(path);
  const map = transforms.getSourceMaps().get(path);
  if (map !== undefined) sourceMaps.set(path, map);
  loaded._compile(code, path);
};

// Dynamic imports and the typed client name the built file: `./name.js` for `./name.ts`.
const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (name, parent, ...rest) {
  const isBuilt = name.startsWith('.') && name.endsWith('.js') && parent?.filename?.startsWith(ROOT);
  const source = isBuilt ? resolve(dirname(parent.filename), name.slice(0, -'.js'.length) + '.ts') : '';
  return isBuilt && existsSync(source) ? source : resolveFilename.call(this, name, parent, ...rest);
};

// graphile-worker keeps the options of each runner in a Map of this module, and with them every service that a test has started.
const { Map: StrongMap } = globalThis;
globalThis.Map = WeakMap;
require(join(dirname(require.resolve('graphile-worker')), 'taskIdentifiers.js'));
globalThis.Map = StrongMap;

module.exports = { __esModule: true, default: SharedModulesRuntime };
