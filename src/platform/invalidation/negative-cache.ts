import { LRUCache } from 'lru-cache';
import type { Clock } from '../values/clock';
import { DomainError } from '../errors/domain-error';
import { ERROR_CODES, type ErrorCode } from '../errors/error-codes';
import type { InvalidationFeed } from './invalidation-feed';

/**
 * How long a refusal is cached. Shorter than the second within which every node must accept a new credential.
 */
const REFUSED_MS_MAX = 900;
/** About 3 MB. The least recently used ones are evicted. */
const REFUSALS_MAX = 10_000;

/**
 * When the state behind a refusal was read. Caches may be nested (an issuer's cache behind its tokens' cache). The outer cache
 * takes the age from the inner one, or both together would keep a refusal for twice the time.
 */
const readTimes = new WeakMap<DomainError, number>();

interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly readAtMs: number;
}

/**
 * Caches refused credentials for less than a second (docs/adr/0044), so that sending one again costs no look-up and no
 * verification. Only refusals with status 401 are cached: an unavailable source has refused nothing. A change of `kind` on
 * this node invalidates all entries, so a new credential is accepted at once.
 */
export class NegativeCache {
  /** Each entry has size 1. With `max` the cache would allocate all its memory at the start. */
  private readonly refusals = new LRUCache<string, Refusal>({ maxSize: REFUSALS_MAX, sizeCalculation: () => 1 });
  private newestAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly kind: string,
    private readonly feed: InvalidationFeed,
    private readonly clock: Clock,
  ) {}

  /** The cached refusal of this key, if there is a valid one. */
  recall(key: string): DomainError | undefined {
    const refusal = this.refusals.get(key);
    if (refusal === undefined || !this.holds(refusal.readAtMs)) return undefined;
    // A new error: a cached one would keep the request of its first use in memory.
    const error = new DomainError(refusal.code, refusal.message, { headers: refusal.headers });
    readTimes.set(error, refusal.readAtMs);
    return error;
  }

  /** Caches a refusal from a read at `askedAtMs` (monotonic). Returns whether the error is a refusal. */
  remember(key: string, error: unknown, askedAtMs: number): boolean {
    if (!isRefusal(error)) return false;
    const { code, message, extras } = error;
    const readAtMs = Math.min(askedAtMs, readTimes.get(error) ?? askedAtMs);
    readTimes.set(error, readAtMs);
    this.refusals.set(key, { code, message, headers: extras.headers ?? {}, readAtMs });
    this.newestAtMs = Math.max(this.newestAtMs, readAtMs);
    return true;
  }

  /** Runs `verify` unless the refusal of its key is cached. The key is only computed while there are refusals. */
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

/** Whether an error refuses a credential (status 401). */
export function isRefusal(error: unknown): error is DomainError {
  return error instanceof DomainError && ERROR_CODES[error.code].status === 401;
}
