const process = require('node:process');
const { jestsOwn } = require('./jests-own.cjs');

const { ModuleMocker } = jestsOwn('jest-mock', 'jest-environment-node');

/**
 * Spec files run among the globals of Node.js itself, as the service does, and not in a `vm` context of their own: there every
 * look at a global goes through a proxy, and an error or an array of a package is none of ours. What a file leaves on the
 * global object (there TypeORM and class-validator collect metadata), in `process.env` or as a listener of the process is taken
 * away after it: the next file begins without.
 */
class OneRealmEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  /** There are none: what depends on time is given a clock (test-clock.ts). */
  fakeTimers = null;
  fakeTimersModern = null;
  #globals = new Set(Reflect.ownKeys(globalThis));
  #variables = { ...process.env };
  #listeners = new Map(process.eventNames().map((event) => [event, new Set(process.rawListeners(event))]));

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Only asked whether the environment is still there: the runtime beside this file compiles. */
  getVmContext() {
    return globalThis;
  }

  async setup() {}

  async teardown() {
    for (const key of Reflect.ownKeys(globalThis)) {
      if (!this.#globals.has(key)) Reflect.deleteProperty(globalThis, key);
    }
    for (const name of Object.keys(process.env)) {
      if (!(name in this.#variables)) delete process.env[name];
    }
    Object.assign(process.env, this.#variables);
    this.#endListening();
  }

  /** For what a file has loaded its end is that of the process: who waits for that, to write its last lines, is told. */
  #endListening() {
    for (const event of process.eventNames()) {
      const before = this.#listeners.get(event);
      const added = process.rawListeners(event).filter((listener) => !before?.has(listener));
      for (const listener of added) {
        if (event === 'exit') listener.call(process, 0);
        process.removeListener(event, listener);
      }
    }
  }
}

module.exports = OneRealmEnvironment;
