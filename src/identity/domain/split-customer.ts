/** Two profiles that belong together because an event named an identifier of each. */
export interface Link {
  readonly fromEvidenceId: string;
  readonly intoEvidenceId: string;
}

export interface Member {
  readonly profileId: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** A customer with links, each made between two customers: they are a tree. */
export interface LinkedCustomer {
  readonly rootId: string;
  readonly members: readonly Member[];
  /** The member that owns the EXTERNAL identifier, if there is one. */
  readonly externalProfileId: string | undefined;
}

/** One of the two customers that come of one. */
export interface SplitSide {
  readonly rootId: string;
  /** Sorted. */
  readonly profileIds: readonly string[];
}

/** What there is on either side of a link. */
export interface Split {
  readonly from: SplitSide;
  readonly into: SplitSide;
}

/**
 * What becomes of a customer whose profiles are held together by `link` and `others` when `link` is undone (docs/adr/0024). Further
 * merges go with the side that they came by.
 *
 * The roots are what merges would make them. The side with the EXTERNAL identifier keeps the root, or gets the profile that owns the
 * identifier; the other side gets its oldest profile, which a root of theirs that lost a merge is.
 *
 * Undefined when the two sides are held together by others as well; the merges of one customer never are so many.
 */
export function splitCustomer(customer: LinkedCustomer, link: Link, others: readonly Link[]): Split | undefined {
  const reached = reachableFrom(link.fromEvidenceId, others);
  if (reached.has(link.intoEvidenceId)) return undefined;
  return {
    from: sideOf(
      customer,
      customer.members.filter(({ profileId }) => reached.has(profileId)),
    ),
    into: sideOf(
      customer,
      customer.members.filter(({ profileId }) => !reached.has(profileId)),
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
  // A set is walked in the order of its growth, so that what is found is looked at in its turn.
  const reached = new Set([profileId]);
  for (const each of reached) for (const neighbour of neighbours.get(each) ?? []) reached.add(neighbour);
  return reached;
}
