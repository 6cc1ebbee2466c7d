const process = require('node:process');
const { setTimeout: wait } = require('node:timers/promises');

const LOADED = Symbol.for('test/support/jest/shared-services');
if (globalThis[LOADED] === true)
  throw new Error('Jest loaded this once more, for one spec file: see shared-modules-runtime.cjs.');
globalThis[LOADED] = true;

/** Before Jest puts one in its place that prints a warning. */
const exit = process.exit.bind(process);
/** What one spec file starts and later ones use, by name; Node.js loads this module once in a Jest worker. */
const started = new Map();
/** Message of Jest that ends a worker: CHILD_MESSAGE_END of jest-worker. */
const END = 2;
/** Jest kills a worker that still runs after 500 ms. */
const STOP_MS_MAX = 400;

/** The thing of that name, started when it is asked for first. It has a method `stop`. */
function shared(name, start) {
  const known = started.get(name) ?? start();
  started.set(name, known);
  return known;
}

/** Stops everything. The next spec file starts anew. */
async function stopShared() {
  const all = [...started.values()];
  started.clear();
  await Promise.allSettled(all.map(async (each) => (await each).stop()));
}

async function onMessage([type]) {
  if (type !== END) return;
  process.off('message', onMessage);
  if (started.size === 0) return;
  await Promise.race([stopShared(), wait(STOP_MS_MAX)]);
  exit();
}

if (process.send !== undefined) process.on('message', onMessage);

module.exports = { shared, stopShared };
