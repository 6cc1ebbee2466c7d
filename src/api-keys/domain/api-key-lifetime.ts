import { parseTimestamp } from '../../platform/values/timestamp';
import { timestampFault } from '../../platform/errors/fault-words';
import type { Fault } from '../../platform/errors/fault';

/** Upper case on the wire (contract section 2). */
export const API_KEY_STATES = ['ACTIVE', 'EXPIRED', 'REVOKED'] as const;
export type ApiKeyState = (typeof API_KEY_STATES)[number];

interface Lifetime {
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** Worked out whenever it is read; a key that was revoked stays so when its time is over too. */
export function apiKeyState({ expiresAt, revokedAt }: Lifetime, now: Date): ApiKeyState {
  if (revokedAt !== null) return 'REVOKED';
  return expiresAt !== null && expiresAt <= now ? 'EXPIRED' : 'ACTIVE';
}

/** What can be done to a key; each leaves a line in its audit (contract section 2). */
export const API_KEY_ACTIONS = ['created', 'rotated', 'revoked'] as const;
export type ApiKeyAction = (typeof API_KEY_ACTIONS)[number];

const DAY_MS = 24 * 60 * 60 * 1000;
export const API_KEY_DAYS_DEFAULT = 90;
/** A year and a day: long enough for a yearly rotation, short enough that a forgotten key dies. */
export const API_KEY_DAYS_MAX = 366;

export interface LifetimeRequest {
  readonly expiresAt?: string | undefined;
  readonly expiresInDays?: number | undefined;
}

interface GivenLifetime {
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

/**
 * When a new key expires (contract section 2): as the caller says, within a year, else 90 days from now; never later than
 * `makerExpiresAt`, when the key that makes it expires (docs/adr/0045). A wish for later is a fault, the 90 days are cut short.
 */
export function expiryOf(
  wanted: LifetimeRequest,
  now: Date,
  makerExpiresAt: Date | null,
): { readonly at: Date } | { readonly fault: Fault } {
  const { expiresAt, expiresInDays } = wanted;
  if (expiresAt === undefined) {
    const at = new Date(now.getTime() + (expiresInDays ?? API_KEY_DAYS_DEFAULT) * DAY_MS);
    if (expiresInDays === undefined) return { at: earlierOf(at, makerExpiresAt) };
    return withinMaker(at, makerExpiresAt, 'expiresInDays');
  }
  if (expiresInDays !== undefined) {
    const message = 'expiresAt and expiresInDays are both set; send one of them.';
    return { fault: { path: 'expiresAt', code: 'conflicting_fields', message } };
  }
  const parsed = parseTimestamp(expiresAt);
  if ('code' in parsed) return { fault: timestampFault(parsed.code, 'expiresAt') };
  const latest = now.getTime() + API_KEY_DAYS_MAX * DAY_MS;
  if (parsed.at > now.getTime() && parsed.at <= latest) {
    return withinMaker(new Date(parsed.at), makerExpiresAt, 'expiresAt');
  }
  const message = `expiresAt must lie ahead, at most ${API_KEY_DAYS_MAX} days.`;
  return { fault: { path: 'expiresAt', code: 'range', message } };
}

function withinMaker(
  at: Date,
  makerExpiresAt: Date | null,
  path: keyof LifetimeRequest,
): { readonly at: Date } | { readonly fault: Fault } {
  if (makerExpiresAt === null || at <= makerExpiresAt) return { at };
  const end = makerExpiresAt.toISOString();
  const message =
    `${path} is later than ${end}, when the API key that makes this call expires. ` +
    'Send an earlier time, or leave it out: the new key then expires with that one at the latest.';
  return { fault: { path, code: 'range', message } };
}

/** The earlier end of two lives; null: it has none. */
export function earlierOf<End extends Date | null>(end: End, other: Date | null): End | Date {
  if (other === null) return end;
  return end === null || other < end ? other : end;
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
