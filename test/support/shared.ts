import { createRequire } from 'node:module';

interface Stoppable {
  stop(): Promise<unknown>;
}

// By Node.js, which loads it once for all spec files of a Jest worker.
const { shared }: { shared: (name: string, start: () => Promise<Stoppable>) => Promise<Stoppable> } =
  createRequire(__filename)('./jest/shared-services.cjs');

/**
 * Something that the spec files of a Jest worker share, started when the first of them asks for it. It is stopped at the end,
 * and after a file with a failed test, so that no other file fails by what that test has left.
 */
export function sharedInWorker<T extends Stoppable>(name: string, start: () => Promise<T>): Promise<T> {
  return shared(name, start) as Promise<T>;
}
