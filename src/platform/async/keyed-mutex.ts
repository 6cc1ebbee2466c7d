import type { Clock } from '../values/clock';
import { unavailable } from '../errors/unavailable';

/** After a longer wait the work is refused; most clients have given up by then. */
const WAIT_MS_MAX = 10_000;

/**
 * Runs work with the same key one after the other, in the order of arrival, in this process. Work that would wait for the same
 * row lock so holds no connection while it waits: a burst on one key neither runs into the pool's time-out nor takes the
 * connections from others. Correctness depends on the row lock alone, which also covers other processes.
 */
export class KeyedMutex {
  /** Per key, the end of its last work. */
  private readonly last = new Map<string, Promise<void>>();

  constructor(private readonly clock: Clock) {}

  /** Returns or throws what `work` does. Throws `unavailable` when its turn comes too late. */
  async runExclusive<T>(key: string, work: () => Promise<T>): Promise<T> {
    const queuedAtMs = this.clock.monotonicMs();
    const turn = (this.last.get(key) ?? Promise.resolve()).then(() => {
      if (this.clock.monotonicMs() - queuedAtMs > WAIT_MS_MAX) throw unavailable();
      return work();
    });
    const done = turn.then(ignore, ignore);
    this.last.set(key, done);
    try {
      return await turn;
    } finally {
      if (this.last.get(key) === done) this.last.delete(key);
    }
  }
}

function ignore(): void {
  // The next work runs also after a failure.
}
