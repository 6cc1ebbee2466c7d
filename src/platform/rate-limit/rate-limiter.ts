import { LRUCache } from 'lru-cache';
import type { Clock } from '../values/clock';
import { DomainError } from '../errors/domain-error';

interface RateLimitPolicy extends Quota {
  /** As `RateLimit-Policy` names it. */
  readonly name: string;
  /** What is limited, for the words of a refusal. */
  readonly subject: string;
}

/** Beyond so many spenders in a window, those who have not been seen for longest start anew. */
const SPENDERS_MAX = 50_000;

/** Holds each spender to a quota, in the memory of this process (docs/adr/0019). */
export class RateLimiter {
  /** By size, each of them 1: `max` would set all the room aside at every start. */
  private readonly fullAt = new LRUCache<string, number>({ maxSize: SPENDERS_MAX, sizeCalculation: () => 1 });

  constructor(
    private readonly clock: Clock,
    private readonly policy: RateLimitPolicy,
  ) {}

  /** What the spender has left now. */
  allowanceOf(spender: string): QuotaState {
    const now = this.clock.monotonicMs();
    return quotaStateOf(this.policy, this.fullAt.get(spender) ?? now, now);
  }

  /** Throws `rate_limited` unless the spender may spend at least one unit now. */
  check(spender: string): void {
    const allowance = this.allowanceOf(spender);
    if (allowance.remaining > 0) return;
    const { subject, quota, windowSeconds } = this.policy;
    const window = windowSeconds === 1 ? 'a second' : `${windowSeconds} s`;
    throw new DomainError('rate_limited', `Too many ${subject}: the limit is ${quota} in ${window}.`, {
      retryAfterSeconds: allowance.retryAfterMs / 1000,
      headers: headersOf(this.policy, allowance),
    });
  }

  /** Spends, into debt if need be; answers the headers that tell what is left. */
  spend(spender: string, cost: number): Readonly<Record<string, string>> {
    const now = this.clock.monotonicMs();
    const fullAt = fullAfterSpending(this.policy, this.fullAt.get(spender) ?? now, now, cost);
    this.fullAt.set(spender, fullAt);
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

/** So many units in a window; all of them may be spent at once. */
export interface Quota {
  readonly quota: number;
  readonly windowSeconds: number;
}

/** What a spender has left. */
interface QuotaState {
  /** Whole units that may be spent now. */
  readonly remaining: number;
  /** Until at least one unit may be spent; 0 when one may. */
  readonly retryAfterMs: number;
  /** Until the whole quota may be spent. */
  readonly resetMs: number;
}

/** Sums of fractions of a window end a hair beside it. */
const ROUNDING_MS = 1e-6;

/**
 * A leaky bucket kept as one number (GCRA): the moment at which it is full again. Units come back evenly over the window.
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
 * When the bucket is full again once `cost` units are spent. It may go into debt: whoever may spend one unit may spend as
 * many as one request holds, and then waits. A batch larger than the quota is slowed down, not made impossible.
 */
export function fullAfterSpending(
  { quota, windowSeconds }: Quota,
  fullAtMs: number,
  nowMs: number,
  cost: number,
): number {
  return Math.max(fullAtMs, nowMs) + (cost * windowSeconds * 1000) / quota;
}
