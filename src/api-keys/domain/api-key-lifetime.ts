import { AUDIT_ACTIONS, type AuditActionOf } from '../../platform/audit/audit-kinds';
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

/** Computed on every read. A revoked key stays REVOKED after its expiry. */
export function apiKeyState({ expiresAt, revokedAt }: Lifetime, now: Date): ApiKeyState {
  if (revokedAt !== null) return 'REVOKED';
  return expiresAt !== null && expiresAt <= now ? 'EXPIRED' : 'ACTIVE';
}

/** The actions on a key that its audit trail records (contract section 2). */
export const API_KEY_ACTIONS = AUDIT_ACTIONS.api_key;
export type ApiKeyAction = AuditActionOf<'api_key'>;

const DAY_MS = 24 * 60 * 60 * 1000;
export const API_KEY_DAYS_DEFAULT = 90;
/** A year and a day: enough for a yearly rotation, and a forgotten key still expires. */
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
 * When a new key expires (contract section 2): as requested, within a year; by default in 90 days. Never later than
 * `creatorExpiresAt`, the expiry of the key that creates it (docs/adr/0045): a later request is a fault, the default is cut.
 */
export function expiryOf(
  request: LifetimeRequest,
  now: Date,
  creatorExpiresAt: Date | null,
): { readonly at: Date } | { readonly fault: Fault } {
  const { expiresAt, expiresInDays } = request;
  if (expiresAt === undefined) {
    const at = new Date(now.getTime() + (expiresInDays ?? API_KEY_DAYS_DEFAULT) * DAY_MS);
    if (expiresInDays === undefined) return { at: earlierOf(at, creatorExpiresAt) };
    return withinCreatorExpiry(at, creatorExpiresAt, 'expiresInDays');
  }
  if (expiresInDays !== undefined) {
    const message = 'expiresAt and expiresInDays are both set; send one of them.';
    return { fault: { path: 'expiresAt', code: 'conflicting_fields', message } };
  }
  const parsed = parseTimestamp(expiresAt);
  if ('code' in parsed) return { fault: timestampFault(parsed.code, 'expiresAt') };
  const latest = now.getTime() + API_KEY_DAYS_MAX * DAY_MS;
  if (parsed.at > now.getTime() && parsed.at <= latest) {
    return withinCreatorExpiry(new Date(parsed.at), creatorExpiresAt, 'expiresAt');
  }
  const message = `expiresAt must lie ahead, at most ${API_KEY_DAYS_MAX} days.`;
  return { fault: { path: 'expiresAt', code: 'range', message } };
}

/** What is wrong with the expiry of a body with any other faults. A field of another type counts as absent. */
export function lifetimeFaults(
  { expiresAt, expiresInDays }: { readonly expiresAt?: unknown; readonly expiresInDays?: unknown },
  now: Date,
  creatorExpiresAt: Date | null,
): readonly Fault[] {
  const request = {
    expiresAt: typeof expiresAt === 'string' ? expiresAt : undefined,
    expiresInDays: Number.isInteger(expiresInDays) ? (expiresInDays as number) : undefined,
  };
  const expiry = expiryOf(request, now, creatorExpiresAt);
  return 'fault' in expiry ? [expiry.fault] : [];
}

function withinCreatorExpiry(
  at: Date,
  creatorExpiresAt: Date | null,
  path: keyof LifetimeRequest,
): { readonly at: Date } | { readonly fault: Fault } {
  if (creatorExpiresAt === null || at <= creatorExpiresAt) return { at };
  const end = creatorExpiresAt.toISOString();
  const message =
    `${path} is later than ${end}, when the API key that makes this call expires. ` +
    'Send an earlier time, or leave it out: the new key then expires with that one at the latest.';
  return { fault: { path, code: 'range', message } };
}

/** When the caller's own key expires; null: never. */
export function expiryOfCaller({ expiresAt }: { readonly expiresAt: number | null }): Date | null {
  return expiresAt === null ? null : new Date(expiresAt);
}

/** The earlier of two expiries; null: never. */
export function earlierOf<End extends Date | null>(end: End, other: Date | null): End | Date {
  if (other === null) return end;
  return end === null || other < end ? other : end;
}

/**
 * When the successor of a key expires: after the lifetime of that key, counted from now, also for an expired key. The
 * successor of a key without expiry has none. At most 366 days, also for older keys with a longer lifetime.
 */
export function renewedExpiry({ createdAt, expiresAt }: GivenLifetime, now: Date): Date | null {
  if (expiresAt === null) return null;
  const lifeMs = Math.min(expiresAt.getTime() - createdAt.getTime(), API_KEY_DAYS_MAX * DAY_MS);
  return new Date(now.getTime() + lifeMs);
}
