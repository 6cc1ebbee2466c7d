import { unavailable } from '../errors/unavailable';

/** After a longer wait work is refused; most clients have given up by then. */
const WAIT_MS_MAX = 10_000;

/**
 * Runs work with the same key one after the other, in the order of arrival, in this process. Work that would wait for the same
 * row lock so holds no connection while it waits: a burst on one key neither runs into the pool's time-out nor takes the
 * connections from others. Correctness depends on the row lock alone, which also covers other processes.
 */
export class KeyedMutex {
  /** Per key, the end of its last work. */
  private readonly last = new Map<string, Promise<void>>();

  constructor(private readonly waitMsMax = WAIT_MS_MAX) {}

  /**
   * Returns or throws what `work` does. Throws `unavailable` when its turn does not come in time, also while the work ahead of
   * it goes on; it does not begin then.
   */
  async runExclusive<T>(key: string, work: () => Promise<T>): Promise<T> {
    const ahead = this.last.get(key);
    if (ahead === undefined) return this.append(key, work());
    let isRefused = false;
    let timer: NodeJS.Timeout | undefined;
    const refusal = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        isRefused = true;
        reject(unavailable());
      }, this.waitMsMax);
    });
    const turn = ahead.then(() => {
      clearTimeout(timer);
      return isRefused ? refusal : work();
    });
    return Promise.race([this.append(key, turn), refusal]);
  }

  /** Lets later work wait for the end of this. */
  private append<T>(key: string, turn: Promise<T>): Promise<T> {
    const done = turn.then(ignore, ignore).then(() => {
      if (this.last.get(key) === done) this.last.delete(key);
    });
    this.last.set(key, done);
    return turn;
  }
}

function ignore(): void {
  // The next work runs also after a failure.
}
