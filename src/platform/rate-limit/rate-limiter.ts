import { LRUCache } from 'lru-cache';
import type { Clock } from '../values/clock';
import { DomainError } from '../errors/domain-error';

interface RateLimitPolicy extends Quota {
  /** The name in `RateLimit-Policy`. */
  readonly name: string;
  /** What is limited, for the message of a refusal. */
  readonly subject: string;
}

/** Beyond this many keys in a window, the least recently used ones begin with a full quota again. */
const KEYS_MAX = 50_000;

/** Limits each key to a quota, in the memory of this process (docs/adr/0019). */
export class RateLimiter {
  /** Each entry has size 1. With `max` the cache would allocate all its memory at the start. */
  private readonly fullAt = new LRUCache<string, number>({ maxSize: KEYS_MAX, sizeCalculation: () => 1 });

  constructor(
    private readonly clock: Clock,
    private readonly policy: RateLimitPolicy,
  ) {}

  /** What the key has left now. */
  stateOf(key: string): QuotaState {
    const now = this.clock.monotonicMs();
    return quotaStateOf(this.policy, this.fullAt.get(key) ?? now, now);
  }

  /** Throws `rate_limited` unless the key may spend at least one unit now. */
  check(key: string): void {
    const state = this.stateOf(key);
    if (state.remaining > 0) return;
    const { subject, quota, windowSeconds } = this.policy;
    const window = windowSeconds === 1 ? 'a second' : `${windowSeconds} s`;
    throw new DomainError('rate_limited', `Too many ${subject}: the limit is ${quota} in ${window}.`, {
      retryAfterSeconds: state.retryAfterMs / 1000,
      headers: headersOf(this.policy, state),
    });
  }

  /** Spends units, also below zero. Returns the headers with what is left. */
  spend(key: string, cost: number): Readonly<Record<string, string>> {
    const now = this.clock.monotonicMs();
    const fullAt = fullAfterSpending(this.policy, this.fullAt.get(key) ?? now, now, cost);
    this.fullAt.set(key, fullAt);
    return headersOf(this.policy, quotaStateOf(this.policy, fullAt, now));
  }
}

/** The fields of draft-ietf-httpapi-ratelimit-headers. */
function headersOf({ name, quota, windowSeconds }: RateLimitPolicy, { remaining, resetMs }: QuotaState) {
  return {
    'RateLimit-Policy': `"${name}";q=${quota};w=${windowSeconds}`,
    RateLimit: `"${name}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`,
  };
}

/** Units per window. All of them may be spent at once. */
export interface Quota {
  readonly quota: number;
  readonly windowSeconds: number;
}

/** What a key has left. */
interface QuotaState {
  /** Whole units that may be spent now. */
  readonly remaining: number;
  /** Until at least one unit may be spent; 0 when one may. */
  readonly retryAfterMs: number;
  /** Until the whole quota may be spent. */
  readonly resetMs: number;
}

/** Tolerance for rounding errors in sums of fractions of a window. */
const ROUNDING_MS = 1e-6;

/**
 * A leaky bucket stored as one number (GCRA): the time at which it is full again. Units return evenly over the window.
 */
export function quotaStateOf({ quota, windowSeconds }: Quota, fullAtMs: number, nowMs: number): QuotaState {
  const windowMs = windowSeconds * 1000;
  const unitMs = windowMs / quota;
  const missingMs = Math.max(0, fullAtMs - nowMs);
  const remaining = Math.max(0, Math.floor((windowMs - missingMs + ROUNDING_MS) / unitMs));
  const retryAfterMs = remaining > 0 ? 0 : missingMs + unitMs - windowMs;
  return { remaining, retryAfterMs, resetMs: missingMs };
}

/**
 * When the bucket is full again after `cost` units are spent. It may go below zero: a key with one unit left may spend as many
 * as one request needs, and waits afterwards. So a batch larger than the quota is slowed down, not refused for ever.
 */
export function fullAfterSpending(
  { quota, windowSeconds }: Quota,
  fullAtMs: number,
  nowMs: number,
  cost: number,
): number {
  return Math.max(fullAtMs, nowMs) + (cost * windowSeconds * 1000) / quota;
}
