import type { Scope } from './scopes';

/** The caller that a verified credential of any kind identifies. */
export interface Verified {
  /** The workspace: the first argument of every read and write. */
  readonly tenantId: string;
  /** The id of the API key, the service credential or the token's issuer. */
  readonly credentialId: string;
  /** When the credential expires, in epoch milliseconds; null: never. */
  readonly expiresAt: number | null;
}

/** A backend that calls with an API key or signs its requests. */
export interface Principal extends Verified {
  readonly scopes: ReadonlySet<Scope>;
  /** Sources whose events it may send; null for all. */
  readonly sources: ReadonlySet<string> | null;
  /** Set when the call comes from the console: by a session, not with a key. */
  readonly session?: ConsoleSession;
}

/** What a call tells of the console's session that it was made in (contract section 10). */
export interface ConsoleSession {
  /** Until when the last proof of who is signed in counts, in epoch milliseconds; null: there was none. */
  readonly provenUntil: number | null;
}

/** A participant of campaigns who calls with a JWT (contract section 2); `credentialId` is the id of the token's issuer. */
export interface Participant extends Verified {
  readonly expiresAt: number;
  /** The `sub` of the token. All issuers of a workspace share one name space. */
  readonly subject: string;
  /** The `sid` of the token. */
  readonly sessionId: string | null;
  /** The campaign in the token: the only one that the token may be used for. */
  readonly campaignId: string | null;
  readonly appId: string | null;
  /** The issuer's campaign for requests that name none. */
  readonly defaultCampaignId: string | null;
  /** The campaigns that a token without a campaign of its own may name; null for any. */
  readonly allowedCampaignIds: ReadonlySet<string> | null;
}

/**
 * The key that a rate limit counts by: a backend's credential, or a participant, so that a new token changes nothing. The
 * console has a limit of its own, so that who works there takes nothing from the backends with the same key.
 */
export function rateLimitSubjectOf(verified: Principal | Participant): string {
  if ('subject' in verified) return `${verified.credentialId}/${verified.subject}`;
  return verified.session === undefined ? verified.credentialId : `${verified.credentialId}/console`;
}
