import { collectDefaultMetrics, Registry } from 'prom-client';

let registry: Registry | undefined;

/**
 * Memory, CPU, garbage collection, open files and the lag of the event loop, as `process_*` and `nodejs_*`. They belong to
 * the process, and watching them cannot be ended: of any number of services in one process there is one watcher.
 */
export function processMetrics(): Registry {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
}
