import { areSeparated, CustomerGroups, survivor } from './customer-groups';
import type { CustomerGroup, Holder } from './customer-groups';
import type { Identifier } from './identifier';
import { COUNTED_KINDS, type IdentifierCounts, type KnownIdentities } from './known-identities';

/** The identifiers of one event: it claims that all of them belong to one person. */
export interface IdentityClaim {
  /** Normalised, the strongest first; at least one, at most one of them EXTERNAL. */
  readonly identifiers: readonly Identifier[];
  /** The time of receipt, in epoch milliseconds. */
  readonly at: number;
  /** The id of the new profile, if the claim needs one. Unique. */
  readonly newProfileId: string;
  readonly eventId: string;
}

export interface IdentityPolicy {
  /** `IDENTITY_CONFLICT_POLICY`: whether an event is accepted if a weaker identifier belongs to another customer. */
  readonly conflict: 'link' | 'reject';
  /** The limit for identifiers of each kind other than EXTERNAL on one customer; at least 1. */
  readonly identifiersPerKindMax: number;
}

/** Why an identifier of an event was not linked to its customer; a resolution has them in this order. */
const IDENTITY_WARNINGS = ['identity_link_refused', 'identity_limit_reached'] as const;
export type IdentityWarning = (typeof IDENTITY_WARNINGS)[number];

export type Resolution =
  | {
      readonly outcome: 'resolved';
      /**
       * The profile that owns the strongest identifier of the event on its customer. The event stays there through all
       * merges and undos.
       */
      readonly profileId: string;
      /** The root of the customer at the end of the batch. */
      readonly rootId: string;
      readonly warnings: readonly IdentityWarning[];
      /** Whether the claim adds a profile, an identifier or a merge. */
      readonly contributes: boolean;
    }
  | { readonly outcome: 'identity_conflict' }
  | { readonly outcome: 'profile_erased' };

export interface NewProfile {
  readonly profileId: string;
  /** The root at the end of the batch. */
  readonly rootId: string;
  readonly externalId: string | null;
  readonly createdAt: number;
  /**
   * The counts of the whole customer. For a profile that lost a merge within the batch: the counts before that merge.
   */
  readonly counts: IdentifierCounts;
}

/** An identifier that an event names. */
export interface NamedIdentifier extends Identifier {
  readonly eventId: string;
}

export interface PlannedMerge {
  readonly loserRootId: string;
  readonly intoRootId: string;
  /** The profiles that own the two identifiers that caused the merge: the loser's and the winner's. */
  readonly fromEvidenceId: string;
  readonly intoEvidenceId: string;
  /** The root of the customer at the end of the batch, after further merges. Every profile of the loser gets it. */
  readonly finalRootId: string;
  readonly eventId: string;
  readonly at: number;
}

/** Everything to write for a batch of claims, in one workspace. */
export interface IdentityPlan {
  /** One for each claim, in the order of the claims. */
  readonly resolutions: readonly Resolution[];
  readonly newProfiles: readonly NewProfile[];
  readonly newIdentifiers: readonly (Identifier & { readonly profileId: string })[];
  /** In the order of the claims. */
  readonly merges: readonly PlannedMerge[];
  /**
   * The stored roots, sorted, that contributing claims named. If one of them changes before the write, the plan is
   * void.
   */
  readonly changedRoots: readonly string[];
  /** The new values of stored roots that change and stay roots. */
  readonly rootUpdates: readonly {
    readonly rootId: string;
    readonly externalId: string | null;
    readonly counts: IdentifierCounts;
  }[];
  /** The final roots of stored customers that get an EXTERNAL identifier by the batch, directly or by a merge. */
  readonly linkedRoots: readonly string[];
  /** The identifiers of resolved claims that are not their customers': another profile owns them (`isOwned`), or none. */
  readonly unlinked: readonly (NamedIdentifier & { readonly isOwned: boolean })[];
  /** Profiles that own identifiers of resolved claims and are not those of the resolutions; with their final roots. */
  readonly otherOwners: readonly { readonly profileId: string; readonly rootId: string }[];
}

/**
 * Resolves the claims of a batch to customers (contract section 5), one by one: each claim sees the effects of the
 * claims before it. An identifier belongs to its profile for ever; a customer is the set of profiles with one root.
 *
 * Throws only if `known` contradicts itself.
 */
export function planIdentity(
  claims: readonly IdentityClaim[],
  known: KnownIdentities,
  policy: IdentityPolicy,
): IdentityPlan {
  return new Planner(known, policy).plan(claims);
}

/** A resolution whose customer may still be merged by a later claim of the batch. */
type ResolvedClaim = Extract<Resolution, { outcome: 'resolved' }>;
type PendingResolution =
  Exclude<Resolution, ResolvedClaim> | (Omit<ResolvedClaim, 'rootId'> & { readonly group: CustomerGroup });

/** What to do about a claim. It is made before anything changes, because a refused claim must have no effect. */
interface ClaimDecision {
  /** The customers to merge into one; empty: the claim needs a new customer. */
  readonly joined: readonly CustomerGroup[];
  /** Every customer that owns an identifier of the claim. */
  readonly named: readonly CustomerGroup[];
  readonly warnings: Set<IdentityWarning>;
}

class Planner {
  private readonly groups: CustomerGroups;
  private readonly newIdentifiers: (Identifier & { readonly profileId: string })[] = [];
  private readonly merges: { loser: Evidence; winner: Evidence; claim: IdentityClaim }[] = [];
  private readonly changedRoots = new Set<string>();
  private readonly unlinked: IdentityPlan['unlinked'][number][] = [];
  private readonly otherOwners = new Map<string, CustomerGroup>();

  constructor(
    known: KnownIdentities,
    private readonly policy: IdentityPolicy,
  ) {
    this.groups = new CustomerGroups(known);
  }

  plan(claims: readonly IdentityClaim[]): IdentityPlan {
    const pending = claims.map((claim) => this.resolve(claim));
    const all = [...this.groups.all()];
    return {
      resolutions: pending.map(finalResolution),
      newProfiles: all.filter((group) => !group.isStored).map(newProfile),
      newIdentifiers: this.newIdentifiers,
      merges: this.merges.map(({ loser, winner, claim }) => ({
        loserRootId: loser.group.rootId,
        intoRootId: winner.group.rootId,
        fromEvidenceId: loser.profileId,
        intoEvidenceId: winner.profileId,
        finalRootId: survivor(winner.group).rootId,
        eventId: claim.eventId,
        at: claim.at,
      })),
      changedRoots: [...this.changedRoots].sort(),
      rootUpdates: all
        .filter((group) => group.isStored && group.hasChanged && group.mergedInto === undefined)
        .map(({ rootId, externalId, counts }) => ({ rootId, externalId, counts })),
      linkedRoots: all.filter((group) => group.wasUnlinked && survivor(group).externalId !== null).map(survivorId),
      unlinked: this.unlinked,
      otherOwners: [...this.otherOwners].map(([profileId, group]) => ({ profileId, rootId: survivorId(group) })),
    };
  }

  private resolve(claim: IdentityClaim): PendingResolution {
    if (claim.identifiers.some((identifier) => this.groups.isErased(identifier))) return { outcome: 'profile_erased' };
    const holders = claim.identifiers.map((identifier) => this.groups.holder(identifier));
    const [strongest] = holders;
    if (strongest !== undefined && holders.every((holder) => holder?.group === strongest.group)) {
      // The usual case: one customer owns all identifiers of the event.
      this.noteOtherOwners(holders, strongest.profileId);
      return { outcome: 'resolved', ...strongest, warnings: NO_WARNINGS, contributes: false };
    }
    const decision = this.decide(claim, holders);
    return decision === undefined ? { outcome: 'identity_conflict' } : this.apply(claim, holders, decision);
  }

  /**
   * Decides which customers to merge. The strongest identifier selects the customer of the event. The customers of the
   * other identifiers join it in order of strength; a customer that may not join stays as it is. So if two customers
   * are separated, or too large together, the weaker identifier stays behind. Undefined: `identity_conflict`.
   */
  private decide(claim: IdentityClaim, holders: readonly (Holder | undefined)[]): ClaimDecision | undefined {
    const named = [...new Set(holders.flatMap((holder) => holder?.group ?? []))];
    const warnings = new Set<IdentityWarning>();
    const externalAt = claim.identifiers.findIndex(({ kind }) => kind === 'EXTERNAL');
    const namesExternal = externalAt !== -1;
    if (!namesExternal && named.filter((group) => group.externalId !== null).length > 1) return undefined;

    // A new EXTERNAL identifier can only go to a customer that has none.
    const target = holders[externalAt]?.group ?? named.find((group) => !namesExternal || group.externalId === null);
    const joined = target === undefined ? [] : [target];
    for (const group of named) {
      if (group === target) continue;
      const refusal = this.refusalToJoin(group, joined, namesExternal);
      if (refusal === undefined) joined.push(group);
      else warnings.add(refusal);
    }
    if (namesExternal && this.policy.conflict === 'reject' && warnings.has('identity_link_refused')) return undefined;
    return { joined, named, warnings };
  }

  private refusalToJoin(
    group: CustomerGroup,
    joined: readonly CustomerGroup[],
    namesExternal: boolean,
  ): IdentityWarning | undefined {
    // If the claim names no EXTERNAL identifier, at most one of its customers has one (see `decide`), and that one may
    // join.
    if (namesExternal && group.externalId !== null) return 'identity_link_refused';
    if (joined.some((other) => areSeparated(group, other))) return 'identity_link_refused';
    const together = [group, ...joined];
    const isTooLarge = COUNTED_KINDS.some(
      (kind) => together.reduce((sum, { counts }) => sum + counts[kind], 0) > this.policy.identifiersPerKindMax,
    );
    return isTooLarge ? 'identity_limit_reached' : undefined;
  }

  private apply(
    claim: IdentityClaim,
    holders: readonly (Holder | undefined)[],
    decision: ClaimDecision,
  ): PendingResolution {
    const [first, ...others] = decision.joined;
    const target =
      first === undefined ? this.groups.create(claim.newProfileId, claim.at) : others.reduce(winner, first);
    const [winning] = evidenceOf([target], holders);
    for (const loser of evidenceOf(others.length === 0 ? [] : decision.joined, holders)) {
      if (loser.group === target || winning === undefined) continue;
      this.groups.merge(loser.group, target);
      this.merges.push({ loser, winner: winning, claim });
    }
    // New identifiers join the profile of the strongest existing one, so that they follow it if a merge is undone.
    const beside = holders.find((holder) => holder !== undefined && survivor(holder.group) === target);
    const attached = this.attachNew(claim, target, beside?.profileId ?? target.rootId, decision.warnings);

    const profileId = this.strongestLinked(claim, target);
    this.noteOtherOwners(holders, profileId);
    if (decision.warnings.size > 0) this.noteUnlinked(claim, target);

    const contributes = first === undefined || others.length > 0 || attached > 0;
    if (contributes) for (const group of decision.named) if (group.isStored) this.changedRoots.add(group.rootId);
    return {
      outcome: 'resolved',
      group: target,
      profileId,
      warnings: IDENTITY_WARNINGS.filter((warning) => decision.warnings.has(warning)),
      contributes,
    };
  }

  /** Adds the claim's new identifiers to `profileId`, a profile of `target`, and returns how many were added. */
  private attachNew(
    claim: IdentityClaim,
    target: CustomerGroup,
    profileId: string,
    warnings: Set<IdentityWarning>,
  ): number {
    let attached = 0;
    for (const identifier of claim.identifiers) {
      const { kind } = identifier;
      if (this.groups.holder(identifier) !== undefined) continue;
      if (kind !== 'EXTERNAL' && target.counts[kind] >= this.policy.identifiersPerKindMax) {
        warnings.add('identity_limit_reached');
        continue;
      }
      this.groups.attach(identifier, profileId, target);
      this.newIdentifiers.push({ ...identifier, profileId });
      attached += 1;
    }
    return attached;
  }

  private noteUnlinked({ identifiers, eventId }: IdentityClaim, target: CustomerGroup): void {
    for (const identifier of identifiers) {
      const holder = this.groups.holder(identifier);
      if (holder?.group !== target) this.unlinked.push({ ...identifier, eventId, isOwned: holder !== undefined });
    }
  }

  private noteOtherOwners(holders: readonly (Holder | undefined)[], profileId: string): void {
    for (const holder of holders) {
      if (holder !== undefined && holder.profileId !== profileId) this.otherOwners.set(holder.profileId, holder.group);
    }
  }

  private strongestLinked(claim: IdentityClaim, target: CustomerGroup): string {
    for (const identifier of claim.identifiers) {
      const holder = this.groups.holder(identifier);
      if (holder?.group === target) return holder.profileId;
    }
    throw new Error('A claim named no identifier');
  }
}

/** A customer of a claim, with the profile that owns the strongest identifier by which the claim names the customer. */
type Evidence = Pick<Holder, 'profileId' | 'group'>;

function evidenceOf(groups: readonly CustomerGroup[], holders: readonly (Holder | undefined)[]): Evidence[] {
  return groups.flatMap((group) => holders.find((holder) => holder?.group === group) ?? []);
}

/** Adds the final root, once every claim of the batch is resolved. */
function finalResolution(pending: PendingResolution): Resolution {
  if (pending.outcome !== 'resolved') return pending;
  const { outcome, profileId, warnings, contributes, group } = pending;
  return { outcome, profileId, rootId: survivor(group).rootId, warnings, contributes };
}

const NO_WARNINGS: readonly IdentityWarning[] = [];

/** Which of two customers keeps its root in a merge: the one with an EXTERNAL identifier, else the older one. */
function winner(a: CustomerGroup, b: CustomerGroup): CustomerGroup {
  if (a.externalId !== null || b.externalId !== null) return a.externalId === null ? b : a;
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? a : b;
  return a.rootId < b.rootId ? a : b;
}

function survivorId(group: CustomerGroup): string {
  return survivor(group).rootId;
}

function newProfile(group: CustomerGroup): NewProfile {
  const { rootId: profileId, externalId, createdAt, counts } = group;
  return { profileId, rootId: survivor(group).rootId, externalId, createdAt, counts };
}
