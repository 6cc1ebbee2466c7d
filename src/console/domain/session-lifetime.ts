const MINUTE_MS = 60_000;
/** Contract section 10. */
export const SESSION_IDLE_MS = 30 * MINUTE_MS;
export const SESSION_MS_MAX = 8 * 60 * MINUTE_MS;
export const PROOF_MS = 5 * MINUTE_MS;
/** A later use is one of a clock that was set back since. Clocks of nodes differ by less. */
export const USE_AHEAD_MS_MAX = MINUTE_MS;

/** When a session was used. */
export interface SessionTimes {
  readonly createdAt: Date;
  readonly usedAt: Date;
  readonly provenAt: Date | null;
}

/** When a session and its last proof end; epoch milliseconds. */
export interface SessionEnds {
  /** Whatever happens. */
  readonly expiresAt: number;
  /** Unless it is used. */
  readonly idleExpiresAt: number;
  /** Null: there was no proof. */
  readonly provenUntil: number | null;
}

/** `grantExpiresAt`: when the key of the session expires; null: never. */
export function sessionEnds({ createdAt, usedAt, provenAt }: SessionTimes, grantExpiresAt: number | null): SessionEnds {
  const expiresAt = Math.min(createdAt.getTime() + SESSION_MS_MAX, grantExpiresAt ?? Infinity);
  return {
    expiresAt,
    idleExpiresAt: Math.min(usedAt.getTime() + SESSION_IDLE_MS, expiresAt),
    provenUntil: provenAt === null ? null : Math.min(provenAt.getTime() + PROOF_MS, expiresAt),
  };
}

/**
 * Whether a session is over at `now`. A proof does not prolong it. Behind its own use nobody knows how old it and its proof
 * are, so it is over too.
 */
export function hasEnded(times: SessionTimes, now: Date): boolean {
  const isAhead = times.usedAt.getTime() > now.getTime() + USE_AHEAD_MS_MAX;
  return isAhead || sessionEnds(times, null).idleExpiresAt <= now.getTime();
}
