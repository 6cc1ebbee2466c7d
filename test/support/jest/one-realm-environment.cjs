const { AsyncLocalStorage } = require('node:async_hooks');
const process = require('node:process');
const { jestsOwn } = require('./jests-own.cjs');
const { stopShared } = require('./shared-services.cjs');

const { ModuleMocker } = jestsOwn('jest-mock', 'jest-environment-node');

/** Where TypeORM and class-validator collect what decorators say. The decorated classes outlive a spec file, so these do too. */
const DECORATOR_METADATA = new Set(['typeormMetadataArgsStorage', 'classValidatorMetadataStorage']);

/** Storages that hold something since they were last disabled. */
const storages = new Set();
const { run } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function (...args) {
  storages.add(this);
  return run.apply(this, args);
};

/**
 * Spec files run in the global scope of Node.js, as the service does, and not in a `vm` context: there each access to a global
 * takes a detour, and errors and arrays of packages fail `instanceof`. What a file leaves behind is removed after it: new
 * globals, changed variables in `process.env`, listeners of the process and spies.
 */
class OneRealmEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  /** There are none: code that depends on time takes a clock (test-clock.ts). */
  fakeTimers = null;
  fakeTimersModern = null;
  #hasFailed = false;
  #globals = new Set(Reflect.ownKeys(globalThis));
  #variables = { ...process.env };
  #listeners = new Map(process.eventNames().map((event) => [event, new Set(process.rawListeners(event))]));

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Jest only asks whether the environment still exists: the runtime beside this file compiles. */
  getVmContext() {
    return globalThis;
  }

  async setup() {}

  handleTestEvent({ name }) {
    if (name === 'test_fn_failure' || name === 'hook_failure') this.#hasFailed = true;
  }

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    this.#disableStorages();
    // It may have left a shared service in a state that the next file would fail by.
    if (this.#hasFailed) await stopShared();
    for (const key of Reflect.ownKeys(globalThis)) {
      if (!this.#globals.has(key) && !DECORATOR_METADATA.has(key)) Reflect.deleteProperty(globalThis, key);
    }
    for (const name of Object.keys(process.env)) {
      if (!(name in this.#variables)) delete process.env[name];
    }
    Object.assign(process.env, this.#variables);
    this.#removeListeners();
  }

  /**
   * Jest makes one for each spec file, and Node.js 20 goes through all of them at each promise: behind a hundred files that is a
   * quarter of the time of a worker.
   */
  #disableStorages() {
    for (const storage of storages) storage.disable();
    storages.clear();
  }

  /** Listeners of `exit` stay: modules that outlive the file write their last lines there. */
  #removeListeners() {
    for (const event of process.eventNames()) {
      if (event === 'exit') continue;
      const before = this.#listeners.get(event);
      const added = process.rawListeners(event).filter((listener) => !before?.has(listener));
      added.forEach((listener) => process.removeListener(event, listener));
    }
  }
}

module.exports = OneRealmEnvironment;
