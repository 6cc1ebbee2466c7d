import type { Clock } from '../values/clock';
import { unavailable } from '../errors/unavailable';

/** Who has waited longer is told to come again; most clients have given up by then. */
const WAIT_MS_MAX = 10_000;

/**
 * Lets work on one subject wait in this process for its turn, in the order of arrival. Work that would only wait for the same
 * row's lock so holds no connection while it waits: a burst on one subject does not run into the pool's time-out, nor keep
 * the connections from everybody else. What is exact is so by the lock; turns of two processes know nothing of each other.
 */
export class KeyedMutex {
  /** When the last who came for a subject will be done. */
  private readonly last = new Map<string, Promise<void>>();

  constructor(private readonly clock: Clock) {}

  /** Passes on what `work` answers or throws. Throws `unavailable` when its turn comes too late. */
  async runExclusive<T>(subject: string, work: () => Promise<T>): Promise<T> {
    const cameAtMs = this.clock.monotonicMs();
    const turn = (this.last.get(subject) ?? Promise.resolve()).then(() => {
      if (this.clock.monotonicMs() - cameAtMs > WAIT_MS_MAX) throw unavailable();
      return work();
    });
    const done = turn.then(ignore, ignore);
    this.last.set(subject, done);
    try {
      return await turn;
    } finally {
      if (this.last.get(subject) === done) this.last.delete(subject);
    }
  }
}

function ignore(): void {
  // The next one's turn comes whatever became of this one.
}
