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
