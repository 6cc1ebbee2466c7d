const { createRequire, isBuiltin } = require('node:module');
const { compileFunction } = require('node:vm');
const { jestsOwn } = require('./jests-own.cjs');

const { default: Runtime } = jestsOwn('jest-runtime');

/** What is found from a file's place, and what Jest provides itself. */
const OURS = /^(?:[./]|@jest\/globals$)/;

/**
 * Packages are loaded by Node.js, once for all spec files of a worker, as in production; our own modules by Jest, anew for
 * each file. Loading 1,500 modules of packages again for each of 130 files took more time than the tests. So `jest.mock` does
 * not replace packages; nothing here does that.
 */
class NativePackagesRuntime extends Runtime {
  constructor(...args) {
    super(...args);
    if (typeof this.executor?.compile !== 'function') throw new Error('This was made for another Jest: see compile');
    // As the method that it stands for, in the one realm that there is (one-realm-environment.cjs).
    this.executor.compile = (source, filename) =>
      compileFunction(source, this.executor.injectedModuleParameters, { filename });
  }

  requireModuleOrMock(from, name) {
    const isPackage = !OURS.test(name) && !isBuiltin(name);
    return isPackage ? createRequire(from)(name) : super.requireModuleOrMock(from, name);
  }
}

module.exports = { __esModule: true, default: NativePackagesRuntime };
