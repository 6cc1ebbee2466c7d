import { createRequire } from 'node:module';

interface Stoppable {
  stop(): Promise<unknown>;
}

// By Node.js, which loads it once for all spec files of a Jest worker.
const services: {
  readonly shared: (name: string, start: () => Promise<Stoppable>) => Promise<Stoppable>;
  readonly stopShared: () => Promise<void>;
} = createRequire(__filename)('./jest/shared-services.cjs');

/**
 * Something that the spec files of a Jest worker share, started when the first of them asks for it. It is stopped at the end,
 * and after a file with a failed test, so that no other file fails by what that test has left.
 */
export function sharedInWorker<T extends Stoppable>(name: string, start: () => Promise<T>): Promise<T> {
  return services.shared(name, start) as Promise<T>;
}

/** Stops what earlier spec files of this Jest worker have left running. The next one starts it anew. */
export function stopSharedInWorker(): Promise<void> {
  return services.stopShared();
}
