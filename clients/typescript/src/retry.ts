import { CampaignDataError } from './errors.js';

/** How long a call is tried. */
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
}

export type RetryPolicy = Required<RetryOptions>;

export const RETRY_DEFAULTS: RetryPolicy = {
  // Time is the bound. A number of attempts says little: a service that restarts refuses many of them in a second.
  attemptsMax: Number.POSITIVE_INFINITY,
  totalMsMax: 60_000,
  attemptMsMax: 30_000,
  pauseMsMin: 200,
  pauseMsMax: 10_000,
};

/** Nobody looks at a screen meanwhile, and one request that fails ends the work of all. */
export const BATCH_RETRY_DEFAULTS: RetryPolicy = { ...RETRY_DEFAULTS, totalMsMax: 300_000 };

/**
 * Milliseconds to wait before the next attempt, of `leftMs` that are left; undefined when there is no time for one. Full jitter:
 * anything up to a bound that doubles, so that clients that failed together do not come back together.
 */
export function pauseMs(
  failures: number,
  policy: RetryPolicy,
  { askedMs = 0, leftMs }: { readonly askedMs: number | undefined; readonly leftMs: number },
): number | undefined {
  // Without the last bound a pause would often be longer than what is left, and end a call seconds before its time.
  const bound = Math.min(policy.pauseMsMax, policy.pauseMsMin * 2 ** (failures - 1), leftMs - policy.pauseMsMin);
  // What the service asks for is the least; many are asked for the same.
  const asked = askedMs === 0 ? 0 : askedMs + Math.random() * policy.pauseMsMin;
  return bound <= 0 || asked >= leftMs ? undefined : Math.max(asked, Math.random() * bound);
}

/** Whether sending the same again may end otherwise. All calls of this client take effect once. */
export function isTransient(error: unknown): error is CampaignDataError {
  if (!(error instanceof CampaignDataError)) return false;
  const { status } = error;
  return status === 0 || status === 408 || status === 429 || status >= 500 || isCutOff(error);
}

/** Half an answer, or that of a portal in between. */
function isCutOff({ status, errorCode }: CampaignDataError): boolean {
  return errorCode === 'unexpected_answer' && status >= 200 && status < 300;
}

/**
 * Repeats `attempt` while it fails in a way that may pass, and there are attempts and time; it is told how many milliseconds it
 * may take. Throws the last error, or what `signal` was aborted with.
 */
export async function withRetries<Result>(
  attempt: (msMax: number) => Promise<Result>,
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const endsAt = performance.now() + policy.totalMsMax;
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt(Math.min(policy.attemptMsMax, endsAt - performance.now()));
    } catch (error) {
      signal?.throwIfAborted();
      if (!isTransient(error) || failures >= policy.attemptsMax) throw error;
      const pause = pauseMs(failures, policy, { askedMs: error.retryAfterMs, leftMs: endsAt - performance.now() });
      if (pause === undefined) throw error;
      await sleep(pause, signal);
    }
  }
}

/** Throws what `signal` is aborted with, at once. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
