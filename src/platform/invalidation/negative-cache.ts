import { LRUCache } from 'lru-cache';
import type { Clock } from '../values/clock';
import { DomainError } from '../errors/domain-error';
import { ERROR_CODES, type ErrorCode } from '../errors/error-codes';
import type { InvalidationFeed } from './invalidation-feed';

/**
 * A refusal is repeated for so long without asking again. Shorter than the second within which a new credential must be
 * taken by every node.
 */
const REFUSED_MS_MAX = 900;
/** About 3 MB. Beyond it the least used ones are asked for again. */
const REFUSALS_MAX = 10_000;

/**
 * When the state behind a refusal was read. One cache may stand behind another (an issuer's behind its tokens'): what the outer
 * one learns from the inner one is as old as that, or the two would hold it for twice the time.
 */
const readTimes = new WeakMap<DomainError, number>();

interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly readAtMs: number;
}

/**
 * Remembers for a moment which credentials were refused (docs/adr/0044), so that sending one again costs no look-up and no
 * verification. Only answers with status 401 are remembered: a source that is away has refused nothing. A change of
 * `kind` on this node makes all of it void, so a credential that has just been created is taken at once.
 */
export class NegativeCache {
  /** By size, each of them 1: `max` would set all the room aside at every start. */
  private readonly refusals = new LRUCache<string, Refusal>({ maxSize: REFUSALS_MAX, sizeCalculation: () => 1 });
  private newestAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly kind: string,
    private readonly feed: InvalidationFeed,
    private readonly clock: Clock,
  ) {}

  /** The refusal to repeat, if this key was refused a moment ago. */
  recall(key: string): DomainError | undefined {
    const refusal = this.refusals.get(key);
    if (refusal === undefined || !this.holds(refusal.readAtMs)) return undefined;
    // Made anew: a kept error would keep the request that it was first thrown for.
    const error = new DomainError(refusal.code, refusal.message, { headers: refusal.headers });
    readTimes.set(error, refusal.readAtMs);
    return error;
  }

  /** Remembers a refusal found by asking at `askedAtMs` (monotonic); answers whether the error is one. */
  remember(key: string, error: unknown, askedAtMs: number): boolean {
    if (!isRefusal(error)) return false;
    const { code, message, extras } = error;
    const readAtMs = Math.min(askedAtMs, readTimes.get(error) ?? askedAtMs);
    readTimes.set(error, readAtMs);
    this.refusals.set(key, { code, message, headers: extras.headers ?? {}, readAtMs });
    this.newestAtMs = Math.max(this.newestAtMs, readAtMs);
    return true;
  }

  /** Verifies something, unless its key was refused a moment ago. The key is only made while there are refusals. */
  async unlessRefused<Value>(keyOf: () => string, verify: () => Promise<Value>): Promise<Value> {
    const refusal = this.holds(this.newestAtMs) ? this.recall(keyOf()) : undefined;
    if (refusal !== undefined) throw refusal;
    const readAtMs = this.clock.monotonicMs();
    try {
      return await verify();
    } catch (error) {
      this.remember(keyOf(), error, readAtMs);
      throw error;
    }
  }

  private holds(readAtMs: number): boolean {
    const now = this.clock.monotonicMs();
    if (now - readAtMs > REFUSED_MS_MAX || !this.feed.isFresh(now)) return false;
    return !this.feed.changedHereSince(this.kind, readAtMs);
  }
}

/** Whether an error says that a credential is not taken: status 401. */
export function isRefusal(error: unknown): error is DomainError {
  return error instanceof DomainError && ERROR_CODES[error.code].status === 401;
}
