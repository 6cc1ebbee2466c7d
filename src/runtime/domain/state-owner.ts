import type { Participant } from '../../platform/auth/principal';
import { describeFaults } from '../../platform/errors/describe-faults';
import { DomainError } from '../../platform/errors/domain-error';
import type { Fault } from '../../platform/errors/fault';
import { trimBlank } from '../../platform/values/text/text-rules';
import type { SharedScope } from '../../variables/domain/variable';

/** The app of tokens that name none (contract section 8). */
export const DEFAULT_APP_ID = 'default';
/** Subjects of tokens, in characters; longer text names no participant. */
export const SUBJECT_CHARACTERS_MAX = 256;

/** The owners of the values that a request reads or changes. `user` values belong to the subject in the campaign. */
export interface StateOwner {
  readonly campaignId: string;
  readonly appId: string;
  readonly subject: string;
}

/** A field of the request as the client spelled it (`campaign_id`, `campaignId`), with its value. */
export interface NamedField {
  readonly field: string;
  readonly value: string;
}

/** The owner of a value that participants share. */
export function sharedOwnerId({ campaignId, appId }: StateOwner, scope: SharedScope): string {
  switch (scope) {
    case 'campaign':
      return campaignId;
    case 'app':
      return appId;
  }
}

/** The owners that a request names; the campaign possibly twice, in the path and in the body or query. */
export interface NamedOwner {
  readonly campaigns: readonly NamedField[];
  readonly apps: readonly NamedField[];
  readonly users: readonly NamedField[];
}

export interface OwnerRefusal {
  readonly code: 'context_violation' | 'campaign_required' | 'validation_failed';
  readonly message: string;
  readonly details: readonly Fault[];
}

export type Claims = Pick<Participant, 'subject' | 'campaignId' | 'appId' | 'defaultCampaignId' | 'allowedCampaignIds'>;

/**
 * The owner of the state that a participant's request is about (contract section 8). Its campaign is the one that the
 * request names, else the token's, else the issuer's default. Every name in the request must agree with the token.
 * Without a campaign claim, `allowedCampaignIds` limits which campaign may be named; the issuer's default is always
 * allowed.
 *
 * Refusals: `context_violation`, `validation_failed` (two campaigns), `campaign_required`.
 */
export function findStateOwner(
  claims: Claims,
  named: NamedOwner,
): { readonly owner: StateOwner } | { readonly refusal: OwnerRefusal } {
  const appId = claims.appId ?? DEFAULT_APP_ID;
  const violations = violationsOf(claims, named, appId);
  if (violations.length > 0) return refuse('context_violation', violations);
  const [first, ...others] = named.campaigns;
  const conflicts = others.filter(({ value }) => value !== first?.value).map(conflictFault);
  if (conflicts.length > 0) return refuse('validation_failed', conflicts);
  const campaignId = first?.value ?? claims.campaignId ?? claims.defaultCampaignId;
  if (campaignId === null) return refuse('campaign_required', [campaignFault()]);
  return { owner: { campaignId, appId, subject: claims.subject } };
}

/** The path of a backend's request: it names the campaign and the participant. */
export type StateAddress = Pick<StateOwner, 'campaignId' | 'subject'>;

/**
 * The owner of the state that a backend's request is about. Names in the body must agree with the path; the body may
 * also name the app. Refusal: `validation_failed`.
 */
export function findAddressedOwner(
  { campaignId, subject }: StateAddress,
  named: NamedOwner,
): { readonly owner: StateOwner } | { readonly refusal: OwnerRefusal } {
  const conflicts = [
    ...named.campaigns.filter(({ value }) => value !== campaignId).map((each) => addressFault(each, 'campaign')),
    ...named.users.filter(({ value }) => trimBlank(value) !== subject).map((each) => addressFault(each, 'participant')),
  ];
  if (conflicts.length > 0) return refuse('validation_failed', conflicts);
  return { owner: { campaignId, appId: named.apps[0]?.value ?? DEFAULT_APP_ID, subject } };
}

/** Throws the refusal, if there is one. */
export function ownerOf(found: { readonly owner: StateOwner } | { readonly refusal: OwnerRefusal }): StateOwner {
  if ('owner' in found) return found.owner;
  const { code, message, details } = found.refusal;
  throw new DomainError(code, message, { details });
}

function violationsOf(claims: Claims, named: NamedOwner, appId: string): Fault[] {
  const campaigns = named.campaigns.filter(({ value }) => !mayName(claims, value));
  const campaignWords =
    claims.campaignId === null
      ? "names a campaign that tokens of this issuer are not for; name one of the issuer's allowedCampaignIds"
      : "names another campaign than the token's; remove it";
  const apps = named.apps.filter(({ value }) => value !== appId);
  const users = named.users.filter(({ value }) => trimBlank(value) !== claims.subject);
  return [
    ...campaigns.map(({ field }) => contextFault(field, campaignWords)),
    ...apps.map(({ field }) => contextFault(field, "names another app than the token's; remove it")),
    ...users.map(({ field }) => contextFault(field, "names another participant than the token's; remove it")),
  ];
}

function mayName({ campaignId, allowedCampaignIds }: Claims, named: string): boolean {
  if (campaignId !== null) return named === campaignId;
  return allowedCampaignIds === null || allowedCampaignIds.has(named);
}

function contextFault(field: string, words: string): Fault {
  return { path: field, code: 'context_violation', message: `${field} ${words}.` };
}

function conflictFault({ field }: NamedField): Fault {
  const message = `${field} names another campaign than the rest of the request; name one.`;
  return { path: field, code: 'conflicting_fields', message };
}

function addressFault({ field }: NamedField, what: 'campaign' | 'participant'): Fault {
  const message = `${field} names another ${what} than the address of the request; remove it.`;
  return { path: field, code: 'conflicting_fields', message };
}

function campaignFault(): Fault {
  const message = 'campaign_id is required, since neither the token nor its issuer names a campaign.';
  return { path: 'campaign_id', code: 'required', message };
}

function refuse(code: OwnerRefusal['code'], details: readonly Fault[]): { readonly refusal: OwnerRefusal } {
  return { refusal: { code, message: describeFaults(details), details } };
}
