import { identifierKey, tenantIdentifierKey, type TenantIdentifier } from './identifier';
import type { KnownCustomer, KnownIdentities, KnownProfile, Separation } from './known-identities';
import {
  planIdentity,
  type IdentityClaim,
  type IdentityPlan,
  type IdentityPolicy,
  type NamedIdentifier,
  type Resolution,
} from './resolve-profile';

// The pure steps of `IdentityService`. A batch mixes workspaces; `planIdentity` plans one workspace at a time.

export interface TenantClaim extends IdentityClaim {
  readonly tenantId: string;
}

export interface TenantProfile {
  readonly tenantId: string;
  readonly profileId: string;
}

/** A profile and the customer that it belongs to. */
export interface CustomerProfile extends TenantProfile {
  readonly rootId: string;
}

/** A stored identifier: the profile that owns it, and the customer that the profile belongs to now. */
export interface KnownIdentifier extends TenantIdentifier {
  readonly profile: KnownProfile;
  readonly customer: KnownCustomer;
  /** Grows with every change of the customer. */
  readonly version: number;
}

/** A separation of a customer, by its root. */
export interface CustomerSeparation extends Separation {
  readonly tenantId: string;
  readonly rootId: string;
}

export interface TenantPlan {
  readonly tenantId: string;
  readonly plan: IdentityPlan;
}

/** What a transaction read about the identifiers of its batch. */
export interface IdentityReading {
  readonly identifiers: readonly KnownIdentifier[];
  /** Whether every identifier of the batch is known. */
  readonly isComplete: boolean;
  /** Identifiers of erased persons: no profile owns them, and none may get them. */
  readonly erased: readonly TenantIdentifier[];
}

/** What a single event would lead to: the customer that it belongs to then, or why it is refused. */
export type IdentityPreview =
  | (Pick<ResolvedClaim, 'outcome' | 'profileId' | 'rootId'> & { readonly externalId: string | null })
  | Exclude<Resolution, ResolvedClaim>;

type ResolvedClaim = Extract<Resolution, { outcome: 'resolved' }>;

/** What to do about the identities of a batch. */
export interface IdentityDecision {
  /** One for each claim, in the order of the claims. */
  readonly resolutions: readonly Resolution[];
  /** What to write, for each workspace. */
  readonly plans: readonly TenantPlan[];
}

/** Each identifier of the claims once. */
export function identifiersOf(claims: readonly Pick<TenantClaim, 'tenantId' | 'identifiers'>[]): TenantIdentifier[] {
  return [...identifiersByKey(claims).values()];
}

/** The identifiers of the claims that are neither known nor known to be an erased person's. */
export function unknownIdentifiers(claims: readonly TenantClaim[], reading: IdentityReading): TenantIdentifier[] {
  const unknown = identifiersByKey(claims);
  for (const known of reading.identifiers) unknown.delete(tenantIdentifierKey(known));
  for (const erased of reading.erased) unknown.delete(tenantIdentifierKey(erased));
  return [...unknown.values()];
}

/** Plans each workspace of a batch. `separations`: those of the customers that `rootsToMerge` returns. */
export function planBatch(
  claims: readonly TenantClaim[],
  reading: IdentityReading,
  separations: readonly CustomerSeparation[],
  policy: IdentityPolicy,
): IdentityDecision {
  const knownIn = knownByTenant(reading, separations);
  const resolutions = new Map<TenantClaim, Resolution>();
  const plans = [...byTenant(claims)].map(([tenantId, own]): TenantPlan => {
    const plan = planIdentity(own, knownIn(tenantId), policy);
    plan.resolutions.forEach((resolution, index) => {
      const claim = own[index];
      if (claim !== undefined) resolutions.set(claim, resolution);
    });
    return { tenantId, plan };
  });
  return { resolutions: claims.flatMap((claim) => resolutions.get(claim) ?? []), plans };
}

/**
 * The roots whose separations the decision depends on; empty for most batches. In a workspace where customers merge, or
 * would merge without the limit, these are all roots that the batch names: without one merge, another may become
 * possible.
 */
export function rootsToMerge({ plans }: IdentityDecision, { identifiers }: IdentityReading): TenantProfile[] {
  const merging = new Set(plans.filter(({ plan }) => mergesWithoutLimit(plan)).map(({ tenantId }) => tenantId));
  if (merging.size === 0) return [];
  const roots = new Map<string, TenantProfile>();
  for (const { tenantId, profile } of identifiers) {
    if (merging.has(tenantId)) roots.set(profile.rootId, { tenantId, profileId: profile.rootId });
  }
  return [...roots.values()];
}

/** Whether the decision changes no customer that is stored. It may create customers that nothing is merged into. */
export function changesNoStoredCustomer({ plans }: IdentityDecision): boolean {
  return plans.every(
    ({ plan: { merges, changedRoots, rootUpdates } }) => merges.length + changedRoots.length + rootUpdates.length === 0,
  );
}

/** The stored customers that the decision changes. */
export function changedRootsOf({ plans }: IdentityDecision): TenantProfile[] {
  return plans.flatMap(({ tenantId, plan }) => plan.changedRoots.map((profileId) => ({ tenantId, profileId })));
}

/** The identifiers that the decision adds, each with the profile that gets it. */
export function addedIdentifiers({ plans }: Pick<IdentityDecision, 'plans'>): (TenantIdentifier & TenantProfile)[] {
  return plans.flatMap(({ tenantId, plan }) => plan.newIdentifiers.map((identifier) => ({ tenantId, ...identifier })));
}

/** Of the events with these ids, the identifiers that are not their customers'. */
export function unlinkedIdentifiers(
  { plans }: IdentityDecision,
  eventIds: ReadonlySet<string>,
): (NamedIdentifier & TenantIdentifier)[] {
  return plans.flatMap(({ tenantId, plan }) =>
    plan.unlinked
      .filter(({ eventId }) => eventIds.has(eventId))
      .map(({ kind, value, eventId }) => ({ tenantId, kind, value, eventId })),
  );
}

/** The identifiers of events that no profile owns, after the batch either; each once. */
export function unownedIdentifiers({ plans }: IdentityDecision): (TenantIdentifier & TenantProfile)[] {
  const unowned = new Map<string, TenantIdentifier & TenantProfile>();
  for (const { tenantId, plan } of plans) {
    for (const { kind, value, eventId: profileId, isOwned } of plan.unlinked) {
      const identifier = { tenantId, kind, value, profileId };
      if (!isOwned) unowned.set(tenantIdentifierKey(identifier), identifier);
    }
  }
  if (unowned.size > 0) for (const added of addedIdentifiers({ plans })) unowned.delete(tenantIdentifierKey(added));
  return [...unowned.values()];
}

/**
 * The profiles, stored before the batch, under which its events are stored, and those that own identifiers which its
 * events name.
 */
export function storedProfilesUsed(
  { plans, resolutions }: IdentityDecision,
  claims: readonly TenantClaim[],
): CustomerProfile[] {
  const created = new Set(plans.flatMap(({ plan }) => plan.newProfiles.map((profile) => profile.profileId)));
  const used = new Map<string, CustomerProfile>();
  resolutions.forEach((resolution, index) => {
    const tenantId = claims[index]?.tenantId;
    if (resolution.outcome !== 'resolved' || tenantId === undefined || created.has(resolution.profileId)) return;
    used.set(resolution.profileId, { tenantId, profileId: resolution.profileId, rootId: resolution.rootId });
  });
  for (const { tenantId, plan } of plans) {
    for (const owner of plan.otherOwners) {
      if (!created.has(owner.profileId)) used.set(owner.profileId, { tenantId, ...owner });
    }
  }
  return [...used.values()];
}

/** What the decision for a single claim leads to. */
export function previewOf({ resolutions, plans }: IdentityDecision, { identifiers }: IdentityReading): IdentityPreview {
  const [resolution] = resolutions;
  if (resolution === undefined) throw new Error('A claim was left without a resolution');
  if (resolution.outcome !== 'resolved') return resolution;
  const { outcome, profileId, rootId } = resolution;
  const changed = plans.flatMap(({ plan }) => [...plan.newProfiles, ...plan.rootUpdates]);
  const customers = [...changed, ...identifiers.map(({ customer }) => customer)];
  const externalId = customers.find((customer) => customer.rootId === rootId)?.externalId ?? null;
  return { outcome, profileId, rootId, externalId };
}

function identifiersByKey(
  claims: readonly Pick<TenantClaim, 'tenantId' | 'identifiers'>[],
): Map<string, TenantIdentifier> {
  const byKey = new Map<string, TenantIdentifier>();
  for (const { tenantId, identifiers } of claims) {
    for (const { kind, value } of identifiers) {
      const identifier = { tenantId, kind, value };
      byKey.set(tenantIdentifierKey(identifier), identifier);
    }
  }
  return byKey;
}

/**
 * Without room for more identifiers the limit is the reason not to merge; a separation would be the stronger reason.
 */
function mergesWithoutLimit({ merges, resolutions }: IdentityPlan): boolean {
  if (merges.length > 0) return true;
  return resolutions.some((each) => each.outcome === 'resolved' && each.warnings.includes('identity_limit_reached'));
}

function knownByTenant(
  reading: IdentityReading,
  separations: readonly CustomerSeparation[],
): (tenantId: string) => KnownIdentities {
  const identifiersIn = byTenant(reading.identifiers);
  const separationsIn = byTenant(separations);
  const erasedIn = byTenant(reading.erased);
  return (tenantId) => {
    const identifiers = new Map<string, KnownProfile>();
    const customers = new Map<string, KnownCustomer>();
    for (const { kind, value, profile, customer } of identifiersIn.get(tenantId) ?? []) {
      identifiers.set(identifierKey(kind, value), profile);
      customers.set(customer.rootId, customer);
    }
    const erased = new Set(erasedIn.get(tenantId)?.map(({ kind, value }) => identifierKey(kind, value)));
    return { identifiers, customers, separations: separationsByRoot(separationsIn.get(tenantId)), erased };
  };
}

function separationsByRoot(
  separations: readonly CustomerSeparation[] | undefined,
): ReadonlyMap<string, readonly Separation[]> {
  return separations === undefined ? NO_SEPARATIONS : groupBy(separations, ({ rootId }) => rootId);
}

const NO_SEPARATIONS: ReadonlyMap<string, readonly Separation[]> = new Map();

function byTenant<T extends { readonly tenantId: string }>(entries: readonly T[]): Map<string, T[]> {
  return groupBy(entries, ({ tenantId }) => tenantId);
}

function groupBy<T>(entries: readonly T[], keyOf: (entry: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const entry of entries) {
    const key = keyOf(entry);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [entry]);
    else group.push(entry);
  }
  return groups;
}
