let last: Promise<unknown> = Promise.resolve();

/**
 * Does one thing after another, also for several callers. Several services that boot at once in one thread keep it from hearing
 * PostgreSQL for seconds on a slow machine, and then each of them takes its database for absent.
 */
export function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const done = last.then(work);
  last = done.catch(() => undefined);
  return done;
}
