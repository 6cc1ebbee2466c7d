import { parseTimestamp, timestampFault } from '../../platform/clock/timestamp';
import type { Fault } from '../../platform/errors/fault';

const DAY_MS = 24 * 60 * 60 * 1000;
export const API_KEY_DAYS_DEFAULT = 90;
/** A year and a day: long enough for a yearly rotation, short enough that a forgotten key dies. */
export const API_KEY_DAYS_MAX = 366;

export interface WantedLifetime {
  readonly expiresAt?: string | undefined;
  readonly expiresInDays?: number | undefined;
}

interface GivenLifetime {
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

/** When a new key expires (contract section 2): as the caller says, within a year, else 90 days from now. */
export function expiryOf(wanted: WantedLifetime, now: Date): { readonly at: Date } | { readonly fault: Fault } {
  const { expiresAt, expiresInDays } = wanted;
  if (expiresAt === undefined)
    return { at: new Date(now.getTime() + (expiresInDays ?? API_KEY_DAYS_DEFAULT) * DAY_MS) };
  if (expiresInDays !== undefined) {
    const message = 'expiresAt and expiresInDays are both set; send one of them.';
    return { fault: { path: 'expiresAt', code: 'conflicting_fields', message } };
  }
  const parsed = parseTimestamp(expiresAt);
  if ('code' in parsed) return { fault: timestampFault(parsed.code, 'expiresAt') };
  const latest = now.getTime() + API_KEY_DAYS_MAX * DAY_MS;
  if (parsed.at > now.getTime() && parsed.at <= latest) return { at: new Date(parsed.at) };
  const message = `expiresAt must lie ahead, at most ${API_KEY_DAYS_MAX} days.`;
  return { fault: { path: 'expiresAt', code: 'range', message } };
}

/**
 * When the successor of a key expires: after the length of life that the key had, counted from now, also when that is over;
 * a key that never expires is followed by one that never does. At most 366 days, whatever life an old key was given.
 */
export function renewedExpiry({ createdAt, expiresAt }: GivenLifetime, now: Date): Date | null {
  if (expiresAt === null) return null;
  const lifeMs = Math.min(expiresAt.getTime() - createdAt.getTime(), API_KEY_DAYS_MAX * DAY_MS);
  return new Date(now.getTime() + lifeMs);
}
