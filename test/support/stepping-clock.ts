import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Runs work for which the monotonic clock goes on by `lookMs` with each look at it, and only then. Everything else in the process
 * keeps the real clock: services that read the database's time meanwhile would take it for another one ever after.
 */
export async function bySteppingClock<T>(lookMs: number, work: () => Promise<T>): Promise<T> {
  const isWork = new AsyncLocalStorage<true>();
  const real = performance.now.bind(performance);
  let timeMs = 0;
  const now = jest
    .spyOn(performance, 'now')
    .mockImplementation(() => (isWork.getStore() === undefined ? real() : (timeMs += lookMs)));
  return isWork.run(true, work).finally(() => now.mockRestore());
}
