import { CampaignDataError } from './errors.js';

/** How long a call is repeated. */
export interface RetryOptions {
  /** How often a request is sent at most; as often as `totalMsMax` allows when absent, 1 never repeats. */
  readonly attemptsMax?: number;
  /**
   * Milliseconds for a call with all its attempts. When absent 60,000, and 300,000 for each request of `events.batch` and
   * `events.stream`.
   */
  readonly totalMsMax?: number;
  /** Milliseconds for one attempt, and never more than are left of `totalMsMax`; 30,000 when absent. */
  readonly attemptMsMax?: number;
  /** Milliseconds that the first pause lasts at most; doubled with each attempt; 200 when absent. */
  readonly pauseMsMin?: number;
  /** Milliseconds that a pause of our own choice lasts at most; 10,000 when absent. */
  readonly pauseMsMax?: number;
  /** Asked before each repetition that the bounds allow; false ends the call with the error. For logs and bounds of your own. */
  readonly shouldRetry?: (failed: FailedAttempt) => boolean;
}

/** An attempt that failed and may be repeated. */
export interface FailedAttempt {
  readonly error: CampaignDataError;
  /** How many attempts of the call have failed so far. */
  readonly attempts: number;
  /** Milliseconds since the first of them failed. */
  readonly failingMs: number;
  /** Milliseconds until the next attempt. */
  readonly waitMs: number;
}

/** What ends a call from outside. */
export interface CallSignals {
  /** Ends the call at once, with the reason of the signal; a request under way may have taken effect. */
  readonly signal?: AbortSignal | undefined;
  /** Ends only the pauses between attempts: a request under way is completed, and not repeated. */
  readonly retrySignal?: AbortSignal | undefined;
}

export type RetryPolicy = Required<RetryOptions>;

export const RETRY_DEFAULTS: RetryPolicy = {
  // Time is the bound, because a service that restarts refuses many attempts within a second.
  attemptsMax: Number.POSITIVE_INFINITY,
  totalMsMax: 60_000,
  attemptMsMax: 30_000,
  pauseMsMin: 200,
  pauseMsMax: 10_000,
  shouldRetry: () => true,
};

/** Longer than for single calls: one request that fails ends the whole batch. */
export const BATCH_RETRY_DEFAULTS: RetryPolicy = { ...RETRY_DEFAULTS, totalMsMax: 300_000 };

/** What is not set has its default; so has what is set to undefined, as a setting of a program may be. */
export function policyOf(options: RetryOptions | undefined, defaults: RetryPolicy): RetryPolicy {
  const set = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return { ...defaults, ...(Object.fromEntries(set) as RetryOptions) };
}

/**
 * Milliseconds to wait before the next attempt, of `leftMs` that are left; undefined when there is no time for one. Full jitter:
 * anything up to a bound that doubles, so that clients that failed together do not come back together.
 */
export function pauseMs(
  failures: number,
  policy: RetryPolicy,
  { askedMs = 0, leftMs }: { readonly askedMs: number | undefined; readonly leftMs: number },
): number | undefined {
  // Without this bound a pause would often exceed the time that is left, and end the call early.
  const longest = leftMs - policy.pauseMsMin;
  const bound = Math.min(policy.pauseMsMax, policy.pauseMsMin * 2 ** Math.min(failures - 1, DOUBLINGS_MAX), longest);
  // The service asks many clients for the same minimum; jitter spreads their return.
  const asked = askedMs === 0 ? 0 : askedMs + Math.random() * policy.pauseMsMin;
  return longest <= 0 || asked >= leftMs ? undefined : Math.max(asked, Math.random() * bound);
}

/** More would exceed every bound, and Infinity times no pause is no number. */
const DOUBLINGS_MAX = 30;

/** Whether a repetition may succeed. All calls of this client take effect once. */
export function isTransient(error: unknown): error is CampaignDataError {
  if (!(error instanceof CampaignDataError)) return false;
  const { status, errorCode } = error;
  return (
    (status === 0 && errorCode !== 'unexpected_answer') ||
    status === 408 ||
    status === 429 ||
    status >= 500 ||
    isCutOff(error)
  );
}

/** A truncated answer, or one of a captive portal. */
function isCutOff({ status, errorCode }: CampaignDataError): boolean {
  return errorCode === 'unexpected_answer' && status >= 200 && status < 300;
}

/**
 * Repeats `attempt` while it fails in a way that may pass, and attempts and time are left. `attempt` gets the number of
 * milliseconds that it may take. Throws the last error, or the reason of the signal that ended the call.
 */
export async function withRetries<Result>(
  attempt: (msMax: number) => Promise<Result>,
  policy: RetryPolicy,
  { signal, retrySignal }: CallSignals,
): Promise<Result> {
  const endsAt = performance.now() + policy.totalMsMax;
  let failingSince: number | undefined;
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt(Math.min(policy.attemptMsMax, endsAt - performance.now()));
    } catch (error) {
      signal?.throwIfAborted();
      if (!isTransient(error) || attempts >= policy.attemptsMax) throw error;
      const now = performance.now();
      failingSince ??= now;
      const waitMs = pauseMs(attempts, policy, { askedMs: error.retryAfterMs, leftMs: endsAt - now });
      if (waitMs === undefined) throw error;
      if (!policy.shouldRetry({ error, attempts, failingMs: now - failingSince, waitMs })) throw error;
      await sleep(waitMs, [signal, retrySignal]);
    }
  }
}

/** Timers take no more milliseconds, which are 24 days; they end at once when they are given more. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** Throws the reason of the first signal that is aborted, at once. */
function sleep(ms: number, signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  const ends = AbortSignal.any(signals.filter((signal) => signal !== undefined));
  return new Promise((resolve, reject) => {
    ends.throwIfAborted();
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(ends.reason as Error);
    };
    const timer = setTimeout(
      () => {
        ends.removeEventListener('abort', onAbort);
        resolve();
      },
      Math.min(ms, TIMER_MS_MAX),
    );
    ends.addEventListener('abort', onAbort, { once: true });
  });
}
