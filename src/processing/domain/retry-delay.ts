/** Contract section 8: what might succeed is tried so often, all within a minute. */
export const ATTEMPTS_MAX = 5;

/** Before the second attempt and each further one. */
const DELAYS_MS = [1_000, 3_000, 8_000, 18_000] as const;
/** Longer or shorter by up to this part, so that what failed together is not tried again together. */
const JITTER = 0.25;

/** Milliseconds until the next attempt; undefined after the last one. `random`: from 0 to below 1. */
export function attemptDelayMs(attempts: number, random: number): number | undefined {
  const delay = attempts < ATTEMPTS_MAX ? DELAYS_MS[attempts - 1] : undefined;
  return delay === undefined ? undefined : Math.round(delay * (1 - JITTER + 2 * JITTER * random));
}
