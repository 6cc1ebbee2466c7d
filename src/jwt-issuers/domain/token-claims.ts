import type { Participant } from '../../platform/auth/principal';
import { hasMoreCharacters, isStorable, trimBlank } from '../../platform/values/text/text-rules';
import { PATH_NAME } from '../../platform/values/text/path-name';
import { audiencesOf } from './compact-token';

/** The rules of an issuer for the claims of its tokens. */
export interface ClaimRules {
  readonly tenantId: string;
  readonly id: string;
  readonly issuer: string;
  readonly audience: string;
  /** The names of the claims that name campaign and app. */
  readonly campaignClaim: string;
  readonly appClaim: string;
  readonly defaultCampaignId: string | null;
  readonly allowedCampaignIds: ReadonlySet<string> | null;
  readonly clockToleranceSeconds: number;
}

export type CheckedClaims = { readonly participant: Participant } | { readonly refused: string };

type Claims = Readonly<Record<string, unknown>>;
/** The value of a claim, or the reason for its refusal. */
type ClaimCheck<Value> = { readonly value: Value } | { readonly refused: string };

/** The limit of an EXTERNAL identifier, which `sub` is (contract sections 5 and 8). */
const NAME_CHARACTERS_MAX = 256;

/**
 * Checks the claims of a token with a valid signature (contract section 2, JWT issuers): iss, aud, exp and sub are required,
 * nbf is honoured, and clocks may differ by the issuer's tolerance. `refused` is the reason, and repeats no value.
 */
export function checkClaims(claims: Claims, rules: ClaimRules, nowMs: number): CheckedClaims {
  if (claims['iss'] !== rules.issuer || audiencesOf(claims)?.includes(rules.audience) !== true) {
    return { refused: 'The token is not of this issuer and for this audience.' };
  }
  const expiry = checkTimes(claims, rules.clockToleranceSeconds, nowMs);
  if ('refused' in expiry) return expiry;
  const subject = checkName('sub', claims['sub'], trimBlank);
  if ('refused' in subject) return subject;
  if (subject.value === null)
    return { refused: 'The token names no participant: sub must be a text that is not empty.' };
  const session = checkName('sid', claims['sid']);
  if ('refused' in session) return session;
  const campaign = checkPathName(claims, rules.campaignClaim, 'campaign');
  if ('refused' in campaign) return campaign;
  const app = checkPathName(claims, rules.appClaim, 'app');
  if ('refused' in app) return app;
  const { tenantId, id, defaultCampaignId, allowedCampaignIds } = rules;
  return {
    participant: {
      tenantId,
      credentialId: id,
      expiresAt: expiry.value,
      subject: subject.value,
      sessionId: session.value,
      campaignId: campaign.value,
      appId: app.value,
      defaultCampaignId,
      allowedCampaignIds,
    },
  };
}

/** When the token expires, in epoch milliseconds. */
function checkTimes({ exp, nbf }: Claims, toleranceSeconds: number, nowMs: number): ClaimCheck<number> {
  if (!isTime(exp)) return { refused: 'The token does not say when it expires: exp must be a number of seconds.' };
  // Any expiry is allowed, however far ahead; it must stay a comparable number.
  const expiresAt = Math.min((exp + toleranceSeconds) * 1_000, Number.MAX_SAFE_INTEGER);
  if (expiresAt <= nowMs) return { refused: 'The token has expired; get a new one from its issuer.' };
  if (nbf === undefined) return { value: expiresAt };
  if (!isTime(nbf))
    return { refused: 'The token does not say from when on it holds: nbf must be a number of seconds.' };
  if ((nbf - toleranceSeconds) * 1_000 > nowMs) return { refused: 'The token is not valid yet (nbf).' };
  return { value: expiresAt };
}

/** A number of seconds since 1970. JSON has no NaN, but 1e999 is read as Infinity. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** The name in a claim in its normalised form. Null when it is not a text, or empty in that form. */
function checkName(claim: 'sub' | 'sid', sent: unknown, formOf = (text: string) => text): ClaimCheck<string | null> {
  const value = typeof sent === 'string' ? formOf(sent) : '';
  if (value === '') return { value: null };
  if (!isStorable(value)) {
    return { refused: `The claim ${claim} contains U+0000 or a lone surrogate, which cannot be stored.` };
  }
  if (hasMoreCharacters(value, NAME_CHARACTERS_MAX)) {
    return { refused: `The claim ${claim} is longer than ${NAME_CHARACTERS_MAX} characters.` };
  }
  return { value };
}

/** Null when the claim is absent or null. Any other value that is not a name is a fault of the issuer. */
function checkPathName(claims: Claims, claim: string, what: 'campaign' | 'app'): ClaimCheck<string | null> {
  // The client chooses the name of the claim: `constructor` must find nothing.
  const value = Object.hasOwn(claims, claim) ? claims[claim] : null;
  if (value === null) return { value: null };
  if (typeof value === 'string' && PATH_NAME.test(value)) return { value };
  return {
    refused:
      `The token's claim of the ${what} is no name: 1 to 128 letters, digits, dots, hyphens and underscores, ` +
      'beginning with a letter or a digit.',
  };
}
