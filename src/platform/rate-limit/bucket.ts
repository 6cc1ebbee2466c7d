/** So many units in a window; all of them may be spent at once. */
export interface Quota {
  readonly quota: number;
  readonly windowSeconds: number;
}

/** What a spender has left. */
export interface QuotaState {
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
