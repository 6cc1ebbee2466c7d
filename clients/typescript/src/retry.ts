import { CampaignDataError } from './errors.js';

/** How long a call is tried. */
export interface RetryOptions {
  /** How often a request is sent at most; 6 when absent, 1 never repeats. */
  readonly attemptsMax?: number;
  /** Milliseconds for a call with all its attempts; 60,000 when absent. */
  readonly totalMsMax?: number;
  /** Milliseconds for one attempt; 30,000 when absent. */
  readonly attemptMsMax?: number;
  /** Milliseconds that the first pause lasts at most; doubled with each attempt; 200 when absent. */
  readonly pauseMsMin?: number;
  /** Milliseconds that a pause of our own choice lasts at most; 10,000 when absent. */
  readonly pauseMsMax?: number;
}

export type RetryPolicy = Required<RetryOptions>;

export const RETRY_DEFAULTS: RetryPolicy = {
  attemptsMax: 6,
  totalMsMax: 60_000,
  attemptMsMax: 30_000,
  pauseMsMin: 200,
  pauseMsMax: 10_000,
};

/** Full jitter: anything up to a bound that doubles, so that clients that failed together do not come back together. */
export function pauseMs(failures: number, policy: RetryPolicy, askedMs: number | undefined): number {
  const bound = Math.min(policy.pauseMsMax, policy.pauseMsMin * 2 ** (failures - 1));
  // What the service asks for is the least; many are asked for the same.
  return (askedMs ?? 0) + Math.random() * (askedMs === undefined ? bound : policy.pauseMsMin);
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
 * Repeats `attempt` while it fails in a way that may pass, and there are attempts and time. Throws the last error, or what
 * `signal` was aborted with.
 */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const startedAt = performance.now();
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      if (!isTransient(error) || failures >= policy.attemptsMax) throw error;
      const pause = pauseMs(failures, policy, error.retryAfterMs);
      if (performance.now() - startedAt + pause > policy.totalMsMax) throw error;
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
