/** An entry of the log of merges. */
export interface Merge {
  readonly id: string;
  /** The root that lost, at the time of the merge. */
  readonly fromProfileId: string;
  readonly intoProfileId: string;
  /** The event that named identifiers of both. */
  readonly eventId: string;
  readonly mergedAt: Date;
  readonly undoneAt: Date | null;
}

/** Two profiles that belong together because one event named an identifier of each. */
export interface Link {
  readonly fromEvidenceId: string;
  readonly intoEvidenceId: string;
}

export interface Member {
  readonly profileId: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** A customer whose profiles are connected by links. Each link merged two customers, so that the links are a tree. */
export interface LinkedCustomer {
  readonly rootId: string;
  readonly members: readonly Member[];
  /** The member that owns the EXTERNAL identifier, if there is one. */
  readonly externalProfileId: string | undefined;
}

/** One of the two customers that result from a split. */
export interface SplitSide {
  readonly rootId: string;
  /** Sorted. */
  readonly profileIds: readonly string[];
}

/** The two sides of a link. */
export interface Split {
  readonly from: SplitSide;
  readonly into: SplitSide;
}

/**
 * Splits a customer in two by removing `link` (docs/adr/0024); `others` are its remaining links. Each profile stays
 * with the side that the remaining links connect it to.
 *
 * The roots are the ones that merges would choose. The side with the EXTERNAL identifier keeps the root if it has it;
 * otherwise the profile that owns the identifier becomes its root. The root of the other side is its oldest profile.
 *
 * Undefined if `others` also connect the two sides. Links are a tree, so this does not happen.
 */
export function splitCustomer(customer: LinkedCustomer, link: Link, others: readonly Link[]): Split | undefined {
  const fromSide = reachableFrom(link.fromEvidenceId, others);
  if (fromSide.has(link.intoEvidenceId)) return undefined;
  return {
    from: sideOf(
      customer,
      customer.members.filter(({ profileId }) => fromSide.has(profileId)),
    ),
    into: sideOf(
      customer,
      customer.members.filter(({ profileId }) => !fromSide.has(profileId)),
    ),
  };
}

function sideOf({ rootId, externalProfileId }: LinkedCustomer, members: readonly Member[]): SplitSide {
  const profileIds = members.map(({ profileId }) => profileId).sort();
  const [oldest = { profileId: rootId }] = members.toSorted(
    (a, b) => a.createdAt - b.createdAt || (a.profileId < b.profileId ? -1 : 1),
  );
  if (externalProfileId === undefined || !profileIds.includes(externalProfileId))
    return { rootId: oldest.profileId, profileIds };
  return { rootId: profileIds.includes(rootId) ? rootId : externalProfileId, profileIds };
}

function reachableFrom(profileId: string, links: readonly Link[]): ReadonlySet<string> {
  const neighbours = new Map<string, string[]>();
  const join = (a: string, b: string): void => void neighbours.set(a, [...(neighbours.get(a) ?? []), b]);
  for (const { fromEvidenceId, intoEvidenceId } of links) {
    join(fromEvidenceId, intoEvidenceId);
    join(intoEvidenceId, fromEvidenceId);
  }
  // A set iterates over entries that are added during the iteration, so this loop visits everything reachable.
  const reached = new Set([profileId]);
  for (const each of reached) for (const neighbour of neighbours.get(each) ?? []) reached.add(neighbour);
  return reached;
}
