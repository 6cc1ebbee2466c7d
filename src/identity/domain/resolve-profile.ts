import { areParted, COUNTED_KINDS, CustomerGroups, survivor } from './customer-groups';
import type { Group, Holder, IdentifierCounts, Known } from './customer-groups';
import type { Identifier } from './identifier';

export { identifierKey } from './customer-groups';
export type { IdentifierCounts, Known, KnownCustomer, KnownProfile, Parting } from './customer-groups';

/** What one event says about who somebody is. */
export interface IdentityClaim {
  /** Normalised, the strongest first; at least one, at most one of them EXTERNAL. */
  readonly identifiers: readonly Identifier[];
  /** Time of receipt, epoch milliseconds. */
  readonly at: number;
  /** Taken if the claim needs a new profile; no other claim or profile has it. */
  readonly newProfileId: string;
  readonly eventId: string;
}

export interface IdentityPolicy {
  /** `IDENTITY_CONFLICT_POLICY`: whether an event whose weaker identifier cannot follow its EXTERNAL one is taken. */
  readonly conflict: 'link' | 'reject';
  /** Identifiers of one kind other than EXTERNAL on one customer; at least 1. */
  readonly identifiersPerKindMax: number;
}

export type IdentityWarning = 'identity_link_refused' | 'identity_limit_reached';

export type Resolution =
  | {
      readonly outcome: 'resolved';
      /**
       * The own profile of the event's strongest identifier that is linked to its customer: the event is kept there, through
       * every merge and undoing.
       */
      readonly profileId: string;
      /** The root of its customer at the end of the batch. */
      readonly rootId: string;
      readonly warnings: readonly IdentityWarning[];
      /** Made a profile, an identifier or a merge. */
      readonly contributes: boolean;
    }
  | { readonly outcome: 'identity_conflict' }
  | { readonly outcome: 'profile_erased' };

export interface NewProfile {
  readonly profileId: string;
  /** At the end of the batch. */
  readonly rootId: string;
  readonly externalId: string | null;
  readonly createdAt: number;
  /** Of the whole customer; of a profile merged away within the batch, as they were when it was. */
  readonly counts: IdentifierCounts;
}

export interface PlannedMerge {
  readonly loserRootId: string;
  readonly intoRootId: string;
  /** The own profiles of the two identifiers whose meeting made one customer of two: the loser's, and the other's. */
  readonly fromEvidenceId: string;
  readonly intoEvidenceId: string;
  /** Where `intoRootId` itself ended up: what the root of every profile of the loser becomes. */
  readonly finalRootId: string;
  readonly eventId: string;
  readonly at: number;
}

/** Everything to be written for a batch of claims. */
export interface IdentityPlan {
  /** One for each claim, in their order. */
  readonly resolutions: readonly Resolution[];
  readonly newProfiles: readonly NewProfile[];
  readonly newIdentifiers: readonly (Identifier & { readonly profileId: string })[];
  /** In the order in which they happened. */
  readonly merges: readonly PlannedMerge[];
  /** Sorted roots from before the batch that contributing claims met: if one of them has changed, the plan is void. */
  readonly changedRoots: readonly string[];
  /** What becomes of the roots from before the batch that change and stay roots. */
  readonly rootUpdates: readonly {
    readonly rootId: string;
    readonly externalId: string | null;
    readonly counts: IdentifierCounts;
  }[];
  /** Roots of the customers from before the batch that had no EXTERNAL identifier and have one now, by themselves or by a merge. */
  readonly linkedRoots: readonly string[];
}

/**
 * Decides whose the events of a batch are (contract section 5), claim by claim: a later one sees what an earlier one
 * made. An identifier belongs to its profile for ever; a customer is a set of profiles with one root.
 *
 * Throws only if `known` contradicts itself.
 */
export function planIdentity(claims: readonly IdentityClaim[], known: Known, policy: IdentityPolicy): IdentityPlan {
  return new Planner(known, policy).plan(claims);
}

/** A resolution as long as its customer may still become part of another one. */
type Resolved = Extract<Resolution, { outcome: 'resolved' }>;
type Settling = Exclude<Resolution, Resolved> | (Omit<Resolved, 'rootId'> & { readonly group: Group });

/** What becomes of a claim, before anything is changed: a refused claim must leave no trace. */
interface Decision {
  /** The customers that become the claim's one; empty: it needs a new one. */
  readonly joined: readonly Group[];
  /** All customers of its identifiers. */
  readonly met: readonly Group[];
  readonly warnings: Set<IdentityWarning>;
}

class Planner {
  private readonly groups: CustomerGroups;
  private readonly newIdentifiers: (Identifier & { readonly profileId: string })[] = [];
  private readonly merges: { loser: Evidence; winner: Evidence; claim: IdentityClaim }[] = [];
  private readonly changedRoots = new Set<string>();

  constructor(
    known: Known,
    private readonly policy: IdentityPolicy,
  ) {
    this.groups = new CustomerGroups(known);
  }

  plan(claims: readonly IdentityClaim[]): IdentityPlan {
    const settling = claims.map((claim) => this.resolve(claim));
    const all = [...this.groups.all()];
    return {
      resolutions: settling.map(settled),
      newProfiles: all.filter((group) => !group.known).map(newProfile),
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
        .filter((group) => group.known && group.changed && group.mergedInto === undefined)
        .map(({ rootId, externalId, counts }) => ({ rootId, externalId, counts })),
      linkedRoots: all.filter((group) => group.unlinkedBefore && survivor(group).externalId !== null).map(survivorId),
    };
  }

  private resolve(claim: IdentityClaim): Settling {
    if (claim.identifiers.some((identifier) => this.groups.isErased(identifier))) return { outcome: 'profile_erased' };
    const holders = claim.identifiers.map((identifier) => this.groups.holder(identifier));
    const [strongest] = holders;
    if (strongest !== undefined && holders.every((holder) => holder?.group === strongest.group)) {
      // Somebody who is known by all that the event names, as most are: nothing is to be decided.
      return { outcome: 'resolved', ...strongest, warnings: NO_WARNINGS, contributes: false };
    }
    const decision = this.decide(claim, holders);
    return decision === undefined ? { outcome: 'identity_conflict' } : this.apply(claim, holders, decision);
  }

  /**
   * Which customers become one. The strongest identifier decides where the event goes, and the others' customers follow
   * one by one in order of strength; a customer that may not follow stays as it is. So if two were parted or are too
   * large together, it is the weaker identifier that stays behind. Undefined: identity_conflict.
   */
  private decide(claim: IdentityClaim, holders: readonly (Holder | undefined)[]): Decision | undefined {
    const met = [...new Set(holders.flatMap((holder) => holder?.group ?? []))];
    const warnings = new Set<IdentityWarning>();
    const externalAt = claim.identifiers.findIndex(({ kind }) => kind === 'EXTERNAL');
    const namesExternal = externalAt !== -1;
    if (!namesExternal && met.filter((group) => group.externalId !== null).length > 1) return undefined;

    // A new EXTERNAL identifier can only go to a customer that has none.
    const home = holders[externalAt]?.group ?? met.find((group) => !namesExternal || group.externalId === null);
    const joined = home === undefined ? [] : [home];
    for (const group of met) {
      if (group === home) continue;
      const refusal = this.refusalToJoin(group, joined, namesExternal);
      if (refusal === undefined) joined.push(group);
      else warnings.add(refusal);
    }
    if (namesExternal && this.policy.conflict === 'reject' && warnings.has('identity_link_refused')) return undefined;
    return { joined, met, warnings };
  }

  private refusalToJoin(group: Group, joined: readonly Group[], namesExternal: boolean): IdentityWarning | undefined {
    // Without an EXTERNAL identifier in the claim at most one of its customers has one, and may join.
    if (namesExternal && group.externalId !== null) return 'identity_link_refused';
    if (joined.some((other) => areParted(group, other))) return 'identity_link_refused';
    const together = [group, ...joined];
    const isTooLarge = COUNTED_KINDS.some(
      (kind) => together.reduce((sum, { counts }) => sum + counts[kind], 0) > this.policy.identifiersPerKindMax,
    );
    return isTooLarge ? 'identity_limit_reached' : undefined;
  }

  private apply(claim: IdentityClaim, holders: readonly (Holder | undefined)[], decision: Decision): Settling {
    const [first, ...others] = decision.joined;
    const target =
      first === undefined ? this.groups.create(claim.newProfileId, claim.at) : others.reduce(winner, first);
    const [winning] = evidenceOf([target], holders);
    for (const loser of evidenceOf(others.length === 0 ? [] : decision.joined, holders)) {
      if (loser.group === target || winning === undefined) continue;
      this.groups.merge(loser.group, target);
      this.merges.push({ loser, winner: winning, claim });
    }
    // New identifiers go beside the strongest one that was there: should a merge be undone, they leave with it.
    const beside = holders.find((holder) => holder !== undefined && survivor(holder.group) === target);
    const attached = this.attachNew(claim, target, beside?.profileId ?? target.rootId, decision.warnings);

    const contributes = first === undefined || others.length > 0 || attached > 0;
    if (contributes) for (const group of decision.met) if (group.known) this.changedRoots.add(group.rootId);
    return {
      outcome: 'resolved',
      group: target,
      profileId: this.strongestLinked(claim, target),
      warnings: WARNINGS.filter((warning) => decision.warnings.has(warning)),
      contributes,
    };
  }

  /** How many of the claim's unknown identifiers `profileId`, of the customer `target`, took. */
  private attachNew(claim: IdentityClaim, target: Group, profileId: string, warnings: Set<IdentityWarning>): number {
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

  private strongestLinked(claim: IdentityClaim, target: Group): string {
    for (const identifier of claim.identifiers) {
      const holder = this.groups.holder(identifier);
      if (holder?.group === target) return holder.profileId;
    }
    throw new Error('A claim named no identifier');
  }
}

/** A customer of a claim, with the own profile of the strongest identifier by which the claim names it. */
type Evidence = Pick<Holder, 'profileId' | 'group'>;

function evidenceOf(groups: readonly Group[], holders: readonly (Holder | undefined)[]): Evidence[] {
  return groups.flatMap((group) => holders.find((holder) => holder?.group === group) ?? []);
}

/** Once every claim of the batch has been resolved. */
function settled(settling: Settling): Resolution {
  if (settling.outcome !== 'resolved') return settling;
  const { outcome, profileId, warnings, contributes, group } = settling;
  return { outcome, profileId, rootId: survivor(group).rootId, warnings, contributes };
}

const NO_WARNINGS: readonly IdentityWarning[] = [];
const WARNINGS: readonly IdentityWarning[] = ['identity_link_refused', 'identity_limit_reached'];

/** Of two customers that become one, whose root it gets: that with the EXTERNAL identifier, else the older one. */
function winner(a: Group, b: Group): Group {
  if (a.externalId !== null || b.externalId !== null) return a.externalId === null ? b : a;
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? a : b;
  return a.rootId < b.rootId ? a : b;
}

function survivorId(group: Group): string {
  return survivor(group).rootId;
}

function newProfile(group: Group): NewProfile {
  const { rootId: profileId, externalId, createdAt, counts } = group;
  return { profileId, rootId: survivor(group).rootId, externalId, createdAt, counts };
}
