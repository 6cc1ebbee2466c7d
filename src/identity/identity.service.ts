import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { LostRaceError } from '../platform/group-commit/persist-batch';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { newId } from '../platform/values/ids';
import { identityRules, tenantIdentifierKey, type IdentityRules, type TenantIdentifier } from './domain/identifier';
import {
  addedIdentifiers,
  changedRootsOf,
  changesNoStoredCustomer,
  identifiersOf,
  planBatch,
  previewOf,
  rootsToMerge,
  storedProfilesUsed,
  unknownIdentifiers,
  unlinkedIdentifiers,
  unownedIdentifiers,
  type IdentityDecision,
  type IdentityPreview,
  type IdentityReading,
  type TenantClaim,
} from './domain/identity-batch';
import type { HeldCustomer, PartedProfiles } from './domain/known-identities';
import type { IdentityPolicy } from './domain/resolve-profile';
import { ErasedIdentifiers } from './erased-identifiers';
import { ProfileRepository } from './profile.repository';
import { RememberedProfiles, type RecalledIdentities } from './remembered-profiles';
import { UnlinkedIdentifiers } from './unlinked-identifiers';

/** What a copy of a stored event says of customers, and the profile under which that event is stored; null: it has expired. */
export interface StoredCopy extends Pick<TenantClaim, 'tenantId' | 'identifiers'> {
  readonly profileId: string | null;
}

/** Nothing is known of any identifier. */
const NOTHING_READ: IdentityReading = { identifiers: [], isComplete: false, erased: [] };

/**
 * Contract section 5: the limit for identifiers of each kind on one customer, so that a shared device stays bounded.
 */
const IDENTIFIERS_PER_KIND_MAX = 50;

/**
 * Finds or creates the customers of a batch of events, inside the transaction that stores the events (contract section
 * 5). A claim is what one event says: its identifiers belong to one person. Other nodes resolve claims at the same
 * time, and merges, undos and erasures commit in between.
 *
 * The fast path, for claims that change no stored customer:
 *
 * 1. `recall` resolves those whose identifiers this node remembers, without a query;
 * 2. `planUnknown` makes customers for those of which it remembers nothing;
 * 3. `confirmRecalled` and `createAtCommit` make the transaction fail at COMMIT if the memory is stale or incomplete.
 *
 * The complete path, in this order:
 *
 * 1. `read` looks the identifiers up; nothing is locked;
 * 2. `decide` plans what to change;
 * 3. if the decision `changesNoStoredCustomer`: `writeAtCommit` creates the new customers, and makes the transaction fail
 *    at COMMIT if a customer changed since `read`, or if another node was faster;
 * 4. otherwise: `lock` locks the customers, compares their versions with those that `read` saw, and inserts the new
 *    identifiers. Then `write` locks the profiles that events are stored under or name, and writes the rest;
 * 5. `recordUnlinked` for the events that were stored; `rememberWritten` after the COMMIT.
 *
 * `lock` and `write` throw `LostRaceError` if another transaction was faster; the caller repeats the whole batch.
 */
@Injectable()
export class IdentityService {
  readonly rules: IdentityRules;
  private readonly policy: IdentityPolicy;

  constructor(
    private readonly profiles: ProfileRepository,
    private readonly remembered: RememberedProfiles,
    private readonly erased: ErasedIdentifiers,
    private readonly unlinked: UnlinkedIdentifiers,
    @Inject(SETTINGS_TOKEN) settings: Settings,
  ) {
    this.rules = identityRules(settings.defaultPhoneRegion, settings.placeholderIdentities);
    this.policy = { conflict: settings.identityConflictPolicy, identifiersPerKindMax: IDENTIFIERS_PER_KIND_MAX };
  }

  /**
   * Resolves claims from memory, as `read` and `decide` would. Call `confirmRecalled` to have the database confirm the
   * result.
   */
  recall(claims: readonly Pick<TenantClaim, 'tenantId' | 'identifiers'>[]): RecalledIdentities {
    return this.remembered.resolve(claims);
  }

  /** Forgets all customers. What it remembers may never have been stored, where the database has lost transactions. */
  forget(): void {
    this.remembered.clear();
  }

  /**
   * Plans new customers for claims whose customers are `unknown` to `recall`, as if nobody had named them before.
   * Undefined where that is not all: a claim would be refused or get a warning, or is likely to be an erased person's.
   */
  planUnknown(claims: readonly TenantClaim[]): IdentityDecision | undefined {
    if (this.erased.areSuspects(claims)) return undefined;
    const decision = planBatch(claims, NOTHING_READ, [], this.policy);
    const isAll = decision.resolutions.every((each) => each.outcome === 'resolved' && each.warnings.length === 0);
    return isAll && changesNoStoredCustomer(decision) ? decision : undefined;
  }

  /**
   * Sends a statement with COMMIT. Its precondition (platform/postgres/precondition.ts): each recalled profile still
   * belongs to the recalled customer and is not erased.
   */
  confirmRecalled(transaction: Transaction, { profiles }: RecalledIdentities): void {
    this.profiles.holdProfilesLast(transaction, profiles);
  }

  /**
   * Writes new customers by statements that share the round trip of COMMIT. The transaction fails (`isLostRace`) if
   * another node knows one of their identifiers. It is a precondition of the transaction (platform/postgres/precondition.ts)
   * that none of `unknown`, by default the new identifiers, is an erased person's. Follows `confirmRecalled`.
   */
  createAtCommit(
    transaction: Transaction,
    decision: IdentityDecision,
    unknown: readonly TenantIdentifier[] = addedIdentifiers(decision),
  ): void {
    this.profiles.insertIdentifiersLast(transaction, addedIdentifiers(decision));
    // After the insert, as in `lock`.
    this.erased.assertNone(transaction, unknown);
    this.profiles.writeNewLast(transaction, decision.plans);
  }

  /** Looks up the identifiers of the claims. Locks nothing. */
  async read(transaction: Transaction, claims: readonly TenantClaim[]): Promise<IdentityReading> {
    const named = identifiersOf(claims);
    const [identifiers, erased] = await Promise.all([
      this.profiles.read(transaction, named),
      this.erased.findSuspects(transaction, named),
      this.erased.lookUpWorkspaces(transaction, claims),
    ]);
    this.remembered.remember(identifiers);
    return { identifiers, isComplete: identifiers.length === named.length, erased };
  }

  /** Adds to a reading which unknown identifiers are an erased person's. For a dry run; `lock` finds out by itself. */
  async readErased(
    transaction: Transaction,
    claims: readonly TenantClaim[],
    reading: IdentityReading,
  ): Promise<IdentityReading> {
    const erased = await this.erased.find(transaction, unknownIdentifiers(claims, reading));
    return { ...reading, erased: [...reading.erased, ...erased] };
  }

  /**
   * Those of the copies of stored events that are about an erased person, or one who is being erased: they name the person, or
   * repeat an event of theirs. Sends nothing for an empty list. `reading` has what is known of those whom they name. Nobody
   * else whom they are about is erased before the transaction ends, so that an erasure finds what is recorded of them.
   */
  async aboutErased<T extends StoredCopy>(
    transaction: Transaction,
    copies: readonly T[],
    reading: IdentityReading,
  ): Promise<ReadonlySet<T>> {
    if (copies.length === 0) return new Set();
    const owners = new Map(reading.identifiers.map((each) => [tenantIdentifierKey(each), each.profile.profileId]));
    const keysOf = ({ tenantId, identifiers }: T): string[] =>
      identifiers.map((identifier) => tenantIdentifierKey({ tenantId, ...identifier }));
    const profilesOf = (copy: T): string[] =>
      [copy.profileId, ...keysOf(copy).map((key) => owners.get(key))].filter((id) => typeof id === 'string');
    const profiles = new Map(
      copies.flatMap((copy) => profilesOf(copy).map((profileId) => [profileId, { ...copy, profileId }])),
    );
    const [held, erased] = await Promise.all([
      this.profiles.holdProfiles(transaction, [...profiles.values()]),
      this.erased.find(transaction, identifiersOf(copies)),
    ]);
    const [living, keys] = [new Set(held), new Set(erased.map(tenantIdentifierKey))];
    return new Set(
      copies.filter(
        (copy) => profilesOf(copy).some((id) => !living.has(id)) || keysOf(copy).some((key) => keys.has(key)),
      ),
    );
  }

  /** Decides what to change. Sends a query only if customers may merge: an undo may have separated them before. */
  async decide(
    transaction: Transaction,
    claims: readonly TenantClaim[],
    reading: IdentityReading,
  ): Promise<IdentityDecision> {
    const decision = planBatch(claims, reading, [], this.policy);
    const roots = rootsToMerge(decision, reading);
    if (roots.length === 0) return decision;
    const separations = await this.profiles.readSeparations(transaction, roots);
    return separations.length === 0 ? decision : planBatch(claims, reading, separations, this.policy);
  }

  /** What a single claim would lead to now. Locks nothing and writes nothing. */
  async preview(transaction: Transaction, claim: TenantClaim): Promise<IdentityPreview> {
    const known = await this.read(transaction, [claim]);
    const reading = await this.readErased(transaction, [claim], known);
    return previewOf(await this.decide(transaction, [claim], reading), reading);
  }

  /** Whether the decision changes no stored customer, creates none, and needs no further look-up. */
  changesNothing(claims: readonly TenantClaim[], reading: IdentityReading, decision: IdentityDecision): boolean {
    const createsNobody = decision.plans.every(({ plan }) => plan.newProfiles.length === 0);
    if (!createsNobody || !changesNoStoredCustomer(decision)) return false;
    return reading.isComplete || unknownIdentifiers(claims, reading).length === 0;
  }

  /**
   * Writes a decision that `changesNoStoredCustomer` by statements that share the round trip of COMMIT. The precondition
   * (platform/postgres/precondition.ts): each stored profile still belongs to the same customer and is not erased, and
   * what is unknown in `reading` is neither another node's by now nor an erased person's. Where it does not hold, the
   * caller repeats the batch with `lock` and `write`.
   */
  writeAtCommit(
    transaction: Transaction,
    claims: readonly TenantClaim[],
    reading: IdentityReading,
    decision: IdentityDecision,
  ): void {
    this.profiles.holdProfilesLast(transaction, storedProfilesUsed(decision, claims));
    this.createAtCommit(transaction, decision, unknownIdentifiers(claims, reading));
  }

  /**
   * Locks the customers that change, and inserts the new identifiers. `decision` is the one for `claims` and `reading`.
   * Identifiers that stay without an owner are inserted and removed again: nobody becomes their owner before the events
   * that name them are stored, so that an erasure of the owner finds these events.
   *
   * Throws `LostRaceError` if a customer changed since `read`, if another transaction inserted one of the identifiers,
   * or if an identifier is an erased person's.
   */
  async lock(
    transaction: Transaction,
    claims: readonly TenantClaim[],
    reading: IdentityReading,
    decision: IdentityDecision,
  ): Promise<void> {
    const roots = changedRootsOf(decision);
    const unowned = unownedIdentifiers(decision);
    const identifiers = [...addedIdentifiers(decision), ...unowned];
    const unknown = unknownIdentifiers(claims, reading);
    if (roots.length === 0 && unknown.length === 0) return;
    const [versions, inserted, erased] = await Promise.all([
      this.profiles.lockRoots(transaction, roots),
      this.profiles.insertIdentifiers(transaction, identifiers),
      // After the insert: an erasure deletes identifiers and stores their hashes in one transaction.
      this.erased.find(transaction, unknown),
      ...(unowned.length > 0 ? [this.profiles.removeInserted(transaction, unowned)] : []),
    ]);
    if (erased.length > 0) throw new LostRaceError('an identifier belongs to an erased person');
    const versionsRead = new Map(reading.identifiers.map(({ profile, version }) => [profile.rootId, version]));
    const areUnchanged = roots.every(({ profileId }) => versions.get(profileId) === versionsRead.get(profileId));
    if (!areUnchanged) throw new LostRaceError('a customer changed since it was read');
    if (inserted < identifiers.length) throw new LostRaceError('another node inserted a new identifier');
  }

  /**
   * Writes the decision for `claims`. The statements are sent at once, before any that the caller sends next.
   *
   * Throws `LostRaceError` if a customer was erased since `read`.
   */
  async write(transaction: Transaction, decision: IdentityDecision, claims: readonly TenantClaim[]): Promise<void> {
    const used = storedProfilesUsed(decision, claims);
    const [held] = await Promise.all([
      this.profiles.holdProfiles(transaction, used),
      this.profiles.write(transaction, decision.plans, newId),
    ]);
    if (held.length < used.length) throw new LostRaceError('a customer was erased since it was read');
  }

  /**
   * Stores with COMMIT which identifiers of the stored events are not their customers'. An erasure of their owner finds
   * the events by them. Sends nothing for events without a warning about identity.
   */
  recordUnlinked(transaction: Transaction, decision: IdentityDecision, eventIds: ReadonlySet<string>): void {
    this.unlinked.record(transaction, unlinkedIdentifiers(decision, eventIds));
  }

  /** Call it after the COMMIT of a decision: the new customers are remembered without a look-up. */
  rememberWritten({ plans }: IdentityDecision): void {
    for (const plan of plans) this.remembered.rememberNew(plan);
  }

  /**
   * The customers that profiles belong to now, by profile id. Those that are not erased cannot be before the
   * transaction ends.
   */
  holdCustomers(
    transaction: Transaction,
    tenantId: string,
    profileIds: readonly string[],
  ): Promise<Map<string, HeldCustomer>> {
    return this.profiles.holdCustomers(transaction, tenantId, profileIds);
  }

  /** The profiles that undone merges have parted from these. To be asked behind `holdCustomers`. */
  partedFrom(
    transaction: Transaction,
    tenantId: string,
    profileIds: readonly string[],
  ): Promise<readonly PartedProfiles[]> {
    return this.profiles.partedFrom(transaction, tenantId, profileIds);
  }

  /**
   * Locks customers, by root id, so that none gets an EXTERNAL identifier before the transaction ends: the event that
   * adds one is stored after this COMMIT. Throws `LostRaceError` if a customer has one already, is merged into another
   * one, or is erased.
   */
  async holdUnlinked(transaction: Transaction, tenantId: string, rootIds: ReadonlySet<string>): Promise<void> {
    if (rootIds.size === 0) return;
    const held = await this.profiles.holdUnlinked(transaction, tenantId, [...rootIds]);
    if (held < rootIds.size) throw new LostRaceError('a customer got an EXTERNAL identifier meanwhile');
  }
}
