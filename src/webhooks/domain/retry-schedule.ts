const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * The delays after the first failed attempt and each later one (contract section 15). With jitter all are below 29
 * hours: a queue that waits longer is made due (`PULL_BACK_QUEUES` in `delivery/delivery-maintenance.ts`).
 */
const DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const;
/** Delays vary by up to this share, so that deliveries that failed together are not sent again together. */
const JITTER = 0.2;
/** An endpoint cannot ask for a longer pause than the schedule has. */
export const RETRY_AFTER_MS_MAX = 24 * HOUR_MS;
/** The attempts at a delivery to an endpoint that takes others. */
export const DELIVERY_ATTEMPTS_MAX = DELAYS_MS.length + 1;

/**
 * Milliseconds until the next attempt. `failures`: attempts that failed so far. Beyond the schedule it stays at the
 * last delay. `retryAfterMs`: what the endpoint asked for, which never shortens the delay. `random`: from 0 to below 1.
 */
export function retryDelayMs(failures: number, random: number, retryAfterMs = 0): number {
  const delay = DELAYS_MS[Math.min(failures, DELAYS_MS.length) - 1] ?? DELAYS_MS[0];
  const jittered = Math.round(delay * (1 - JITTER + 2 * JITTER * random));
  return Math.max(jittered, Math.min(retryAfterMs, RETRY_AFTER_MS_MAX));
}

/** The header `Retry-After` (RFC 9110, section 10.2.3): seconds or a date; 0 for anything else. */
export function parseRetryAfter(header: string | undefined, now: Date): number {
  if (header === undefined) return 0;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND_MS;
  if (!/^[A-Za-z]{3}, \d{2} [A-Za-z]{3} \d{4} /.test(text)) return 0;
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now.getTime());
}

/** What is known when an attempt failed. */
export interface FailedAttempt {
  /** Attempts that failed so far, this one included. */
  readonly failures: number;
  readonly firstAttemptAt: Date;
  /** Since when every attempt at the endpoint has failed; null: the last one before this succeeded. */
  readonly failingSince: Date | null;
}

/**
 * Whether a delivery is given up. While the endpoint takes nothing at all, the delivery is not the cause: it is kept
 * until the endpoint works again or is disabled (docs/adr/0067).
 */
export function isGivenUp({ failures, firstAttemptAt, failingSince }: FailedAttempt): boolean {
  if (failures < DELIVERY_ATTEMPTS_MAX) return false;
  return failingSince === null || failingSince.getTime() > firstAttemptAt.getTime();
}
