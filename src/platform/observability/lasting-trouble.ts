import { LRUCache } from 'lru-cache';

const TOLD_EVERY_MS = 10_000;
/** An absent database is met as one of a few errors: refused, reset, not ready. */
const TROUBLES_MAX = 20;

interface Told {
  readonly at: number;
  untold: number;
}

/**
 * Troubles that whoever meets them meets again many times a second, such as an absent database. Each is told at once, and while
 * it lasts once in ten seconds, with how often it was met meanwhile; a line each would bury all others.
 */
export class LastingTrouble {
  private readonly told = new LRUCache<string, Told>({ max: TROUBLES_MAX });

  /** `now`: milliseconds of a clock that is never set. */
  constructor(
    private readonly warn: (line: string) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Other words are another trouble. */
  tell(words: string): void {
    const at = this.now();
    const before = this.told.get(words);
    if (before !== undefined && at - before.at < TOLD_EVERY_MS) {
      before.untold += 1;
      return;
    }
    const untold = before?.untold ?? 0;
    this.warn(untold === 0 ? words : `${words} (since the last such line: ${untold} times more)`);
    this.told.set(words, { at, untold: 0 });
  }
}
