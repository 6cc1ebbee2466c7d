import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { newId } from '../platform/values/ids';
import { LostRaceError } from '../platform/group-commit/persist-batch';
import type { HeldCustomer } from './domain/held-customer';
import { identityRules, type IdentityRules } from './domain/identifier';
import {
  identifierKey,
  planIdentity,
  type IdentityClaim,
  type IdentityPlan,
  type IdentityPolicy,
  type Known,
  type KnownCustomer,
  type KnownProfile,
  type Parting,
  type Resolution,
} from './domain/resolve-profile';
import { tenantIdentifierKey, type TenantIdentifier } from './domain/tenant-identifier';
import { ErasedIdentifiers } from './erased-identifiers';
import {
  ProfileRepository,
  type CustomerParting,
  type CustomerProfile,
  type KnownIdentifier,
  type TenantPlan,
  type TenantProfile,
} from './profile.repository';
import { RememberedProfiles } from './remembered-profiles';

export interface TenantClaim extends IdentityClaim {
  readonly tenantId: string;
}

/** What a transaction has read about the identifiers of its batch. */
export interface IdentityReading {
  readonly identifiers: readonly KnownIdentifier[];
  /** Whether somebody holds each of them. */
  readonly isComplete: boolean;
  /** Those that nobody holds, and that nobody gets: they were an erased person's. */
  readonly erased: readonly TenantIdentifier[];
}

/** What is to become of the identities of a batch. */
export interface IdentityDecision {
  /** Where each event belongs, or why it belongs nowhere, in the order of the claims. */
  readonly resolutions: readonly Resolution[];
  readonly plans: readonly TenantPlan[];
}

/** Whose claims are, by what this node remembers. */
export interface RecalledIdentities {
  /** Where each event belongs: the own profile of its strongest identifier. In the order of the claims; undefined: not known. */
  readonly resolutions: readonly (CustomerProfile | undefined)[];
  /** All the profiles that this depends on, each once. */
  readonly profiles: readonly CustomerProfile[];
}

/** Contract section 5: at most this many identifiers of a kind on one customer, so that a shared device stays bounded. */
const IDENTIFIERS_PER_KIND_MAX = 50;
const NO_PARTINGS: ReadonlyMap<string, readonly Parting[]> = new Map();

/**
 * Resolves the identities of a batch inside the transaction that stores its events (contract section 5). Other nodes
 * do the same at the same time, and merges, undos and erasures commit in between; the steps must be taken in this order:
 *
 * 1. `read` who is known, `decide` what to do: pure, nothing is locked;
 * 2. `claim` what is new: locks the customers concerned, sees whether they still are as read, takes the identifiers;
 * 3. `write`: holds the profiles that events are stored under, and writes the rest.
 *
 * `claim` and `write` throw `LostRaceError` when somebody else was faster; the batch is then tried again from the start.
 */
@Injectable()
export class IdentityService {
  readonly rules: IdentityRules;
  private readonly policy: IdentityPolicy;

  constructor(
    private readonly profiles: ProfileRepository,
    private readonly remembered: RememberedProfiles,
    private readonly erased: ErasedIdentifiers,
    @Inject(SETTINGS_TOKEN) settings: Settings,
  ) {
    this.rules = identityRules(settings.defaultPhoneRegion, settings.placeholderIdentities);
    this.policy = { conflict: settings.identityConflictPolicy, identifiersPerKindMax: IDENTIFIERS_PER_KIND_MAX };
  }

  async read(transaction: Transaction, claims: readonly TenantClaim[]): Promise<IdentityReading> {
    const wanted = [...identifiersOf(claims).values()];
    const [identifiers, erased] = await Promise.all([
      this.profiles.read(transaction, wanted),
      this.erased.findSuspects(transaction, wanted),
    ]);
    this.remembered.remember(identifiers);
    return { identifiers, isComplete: identifiers.length === wanted.length, erased };
  }

  /**
   * What `read` and `decide` would come to for claims that change nobody, by what this node has read before. `holdRecalled` has the
   * database confirm it.
   */
  recall(claims: readonly Pick<TenantClaim, 'tenantId' | 'identifiers'>[]): RecalledIdentities {
    const profiles = new Map<string, CustomerProfile>();
    const resolutions = claims.map(({ tenantId, identifiers }) => {
      const holders = identifiers.map(({ kind, value }) => this.remembered.of({ tenantId, kind, value }));
      const [strongest] = holders;
      for (const holder of holders) {
        if (holder === undefined || holder.rootId !== strongest?.rootId) return undefined;
        // Read at two times, between which its customer has changed.
        if ((profiles.get(holder.profileId) ?? holder).rootId !== holder.rootId) return undefined;
        profiles.set(holder.profileId, holder);
      }
      return strongest;
    });
    return { resolutions, profiles: [...profiles.values()] };
  }

  /** For whoever will not `claim`, which finds out by itself: looks whether unknown identifiers are an erased person's. */
  async readErased(
    transaction: Transaction,
    claims: readonly TenantClaim[],
    reading: IdentityReading,
  ): Promise<IdentityReading> {
    const erased = await this.erased.find(transaction, unknownIdentifiers(claims, reading));
    return { ...reading, erased: [...reading.erased, ...erased] };
  }

  /** Decides by what was read; asks again only where a merge is at hand, whether somebody has parted the two. */
  async decide(
    transaction: Transaction,
    claims: readonly TenantClaim[],
    reading: IdentityReading,
  ): Promise<IdentityDecision> {
    const first = this.plan(claims, reading, []);
    const merging = first.plans.filter(({ plan }) => hasJoinedOrWould(plan));
    if (merging.length === 0) return first;
    const partings = await this.profiles.readPartings(
      transaction,
      merging.flatMap(({ tenantId }) => knownRoots(reading, tenantId)),
    );
    return partings.length === 0 ? first : this.plan(claims, reading, partings);
  }

  /** `claims` and `decision` belong together. */
  async claim(
    transaction: Transaction,
    claims: readonly TenantClaim[],
    reading: IdentityReading,
    { plans }: IdentityDecision,
  ): Promise<void> {
    const roots = plans.flatMap(({ tenantId, plan }) =>
      plan.changedRoots.map((profileId): TenantProfile => ({ tenantId, profileId })),
    );
    const identifiers = plans.flatMap(({ tenantId, plan }) =>
      plan.newIdentifiers.map((identifier) => ({ tenantId, ...identifier })),
    );
    const unknown = unknownIdentifiers(claims, reading);
    if (roots.length === 0 && unknown.length === 0) return;
    const [versions, inserted, erased] = await Promise.all([
      this.profiles.lockRoots(transaction, roots),
      this.profiles.insertIdentifiers(transaction, identifiers),
      // Behind the insert: an erasure gives identifiers free and writes down whose they were at once.
      this.erased.find(transaction, unknown),
    ]);
    if (erased.length > 0) throw new LostRaceError('an identifier is of a person who was erased');
    const read = new Map(reading.identifiers.map(({ profile, version }) => [profile.rootId, version]));
    const unchanged = roots.every(({ profileId }) => versions.get(profileId) === read.get(profileId));
    if (!unchanged) throw new LostRaceError('a customer changed since it was read');
    if (inserted < identifiers.length) throw new LostRaceError('another node claimed a new identifier');
  }

  /** Whether everybody is as they were, so that there is nothing to claim or to write: true of most batches. */
  isSettled(claims: readonly TenantClaim[], reading: IdentityReading, { plans }: IdentityDecision): boolean {
    const isChange = ({ newProfiles, changedRoots, rootUpdates }: IdentityPlan): boolean =>
      newProfiles.length + changedRoots.length + rootUpdates.length > 0;
    if (plans.some(({ plan }) => isChange(plan))) return false;
    return reading.isComplete || unknownIdentifiers(claims, reading).length === 0;
  }

  /**
   * `write` for a settled batch, along with COMMIT: the transaction's precondition (platform/postgres/precondition.ts) is that nobody was erased
   * meanwhile or has become another customer's.
   */
  holdLast(transaction: Transaction, decision: IdentityDecision, claims: readonly TenantClaim[]): void {
    this.profiles.holdProfilesLast(transaction, profilesUsed(decision, claims));
  }

  /** The same for what was recalled: the precondition is that all of it is still so. */
  holdRecalled(transaction: Transaction, { profiles }: RecalledIdentities): void {
    this.profiles.holdProfilesLast(transaction, profiles);
  }

  /** `claims` and `decision` belong together; the statements are sent at once, ahead of whatever the caller sends next. */
  async write(transaction: Transaction, decision: IdentityDecision, claims: readonly TenantClaim[]): Promise<void> {
    const used = profilesUsed(decision, claims);
    const [held] = await Promise.all([
      this.profiles.holdProfiles(transaction, used),
      this.profiles.write(transaction, decision.plans, newId),
    ]);
    if (held < used.length) throw new LostRaceError('a customer was erased since it was read');
  }

  /** To be told once what `write` has written is committed: whoever is new has not to be looked up the next time. */
  committed({ plans }: IdentityDecision): void {
    for (const plan of plans) this.remembered.rememberNew(plan);
  }

  /** The customers that profiles belong to now: events keep the profile they came to, views show the customer. */
  customersOf(tenantId: string, profileIds: readonly string[]): Promise<Map<string, string>> {
    return this.profiles.rootsOf(tenantId, profileIds);
  }

  /** The same inside a transaction, which those that are not erased wait for: nobody is erased before it ends. */
  holdCustomers(
    transaction: Transaction,
    tenantId: string,
    profileIds: readonly string[],
  ): Promise<Map<string, HeldCustomer>> {
    return this.profiles.holdCustomers(transaction, tenantId, profileIds);
  }

  /**
   * Keeps customers, by root, without an EXTERNAL identifier until the transaction ends: an event that links one is stored behind
   * its commit. Throws LostRaceError where one is linked already, or is somebody else's.
   */
  async holdUnlinked(transaction: Transaction, tenantId: string, rootIds: readonly string[]): Promise<void> {
    const held = await this.profiles.holdUnlinked(transaction, tenantId, rootIds);
    if (held < rootIds.length) throw new LostRaceError('a customer got an EXTERNAL identifier meanwhile');
  }

  private plan(
    claims: readonly TenantClaim[],
    reading: IdentityReading,
    partings: readonly CustomerParting[],
  ): IdentityDecision {
    const known = knownByTenant(reading, partings);
    const resolutions = new Map<TenantClaim, Resolution>();
    const erased = byTenant(reading.erased);
    const plans = [...byTenant(claims)].map(([tenantId, own]): TenantPlan => {
      const there = {
        ...(known.get(tenantId) ?? { identifiers: new Map(), customers: new Map(), partings: NO_PARTINGS }),
        erased: new Set(erased.get(tenantId)?.map(({ kind, value }) => identifierKey(kind, value))),
      };
      const plan = planIdentity(own, there, this.policy);
      plan.resolutions.forEach((resolution, index) => {
        const claim = own[index];
        if (claim !== undefined) resolutions.set(claim, resolution);
      });
      return { tenantId, plan };
    });
    return { resolutions: claims.flatMap((claim) => resolutions.get(claim) ?? []), plans };
  }
}

/** Whether customers have become one, or would have if there were room: had they been parted, that would be why they do not. */
function hasJoinedOrWould({ merges, resolutions }: IdentityPlan): boolean {
  if (merges.length > 0) return true;
  return resolutions.some((each) => each.outcome === 'resolved' && each.warnings.includes('identity_limit_reached'));
}

/** The profiles from before the batch that its events are stored under. */
function profilesUsed({ plans, resolutions }: IdentityDecision, claims: readonly TenantClaim[]): CustomerProfile[] {
  const made = new Set(plans.flatMap(({ plan }) => plan.newProfiles.map((profile) => profile.profileId)));
  const used = new Map<string, CustomerProfile>();
  resolutions.forEach((resolution, index) => {
    const tenantId = claims[index]?.tenantId;
    if (resolution.outcome !== 'resolved' || tenantId === undefined || made.has(resolution.profileId)) return;
    used.set(resolution.profileId, { tenantId, profileId: resolution.profileId, rootId: resolution.rootId });
  });
  return [...used.values()];
}

/** Each identifier once, under a text for it and its workspace. */
function identifiersOf(claims: readonly TenantClaim[]): Map<string, TenantIdentifier> {
  const all = new Map<string, TenantIdentifier>();
  for (const { tenantId, identifiers } of claims) {
    for (const { kind, value } of identifiers)
      all.set(tenantIdentifierKey({ tenantId, kind, value }), { tenantId, kind, value });
  }
  return all;
}

/** Those of the claims that nobody holds and of which nothing more is known. */
function unknownIdentifiers(claims: readonly TenantClaim[], reading: IdentityReading): TenantIdentifier[] {
  const all = identifiersOf(claims);
  for (const known of reading.identifiers) all.delete(tenantIdentifierKey(known));
  for (const erased of reading.erased) all.delete(tenantIdentifierKey(erased));
  return [...all.values()];
}

function byTenant<T extends { readonly tenantId: string }>(entries: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const entry of entries) {
    const group = groups.get(entry.tenantId);
    if (group === undefined) groups.set(entry.tenantId, [entry]);
    else group.push(entry);
  }
  return groups;
}

function knownByTenant(reading: IdentityReading, partings: readonly CustomerParting[]): Map<string, Known> {
  const known = new Map<string, Known>();
  const parted = byTenant(partings);
  for (const [tenantId, entries] of byTenant(reading.identifiers)) {
    const identifiers = new Map<string, KnownProfile>();
    const customers = new Map<string, KnownCustomer>();
    for (const { kind, value, profile, customer } of entries) {
      identifiers.set(identifierKey(kind, value), profile);
      customers.set(customer.rootId, customer);
    }
    known.set(tenantId, { identifiers, customers, partings: partingsByRoot(parted.get(tenantId)) });
  }
  return known;
}

function partingsByRoot(partings: readonly CustomerParting[] | undefined): ReadonlyMap<string, readonly Parting[]> {
  if (partings === undefined) return NO_PARTINGS;
  const byRoot = new Map<string, Parting[]>();
  for (const parting of partings) {
    const others = byRoot.get(parting.rootId);
    if (others === undefined) byRoot.set(parting.rootId, [parting]);
    else others.push(parting);
  }
  return byRoot;
}

/** Every customer that the claims of a workspace met: without one merge, another of them may become possible. */
function knownRoots(reading: IdentityReading, tenantId: string): TenantProfile[] {
  const roots = new Set<string>();
  for (const known of reading.identifiers) if (known.tenantId === tenantId) roots.add(known.profile.rootId);
  return [...roots].map((profileId) => ({ tenantId, profileId }));
}
