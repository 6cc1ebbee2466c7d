const FIRST_DELAY_MS = 250;
/** With the attempts of a batch this outlasts a restart of the service. */
const BACKOFF_MS_MAX = 8_000;

/**
 * Milliseconds to wait after failed attempt number `attempt` (from 1): twice as long each time, never less than the
 * service asked for. `random`, from 0 to 1, keeps clients that failed together from coming back together.
 */
export function retryDelayMs(attempt: number, retryAfterMs: number | undefined, random: number): number {
  const backoffMs = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), BACKOFF_MS_MAX);
  return Math.max(backoffMs * (0.5 + random / 2), (retryAfterMs ?? 0) + random * FIRST_DELAY_MS);
}

/**
 * What a `Retry-After` header asks for, in milliseconds: a number of seconds or a point in time (RFC 9110, 10.2.3). The
 * latter is taken relative to the answer's own `Date`, as the two clocks need not agree.
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const ms = Date.parse(value) - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
