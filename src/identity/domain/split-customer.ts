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

/** The profiles that leave their customer, and which of them is their root from now on. */
export interface Split {
  readonly newRootId: string;
  /** Sorted. */
  readonly leaving: readonly string[];
}

/**
 * What becomes of a customer whose profiles are held together by `link` and `others` when `link` is undone (docs/adr/0024): the
 * profiles on the side of the root stay, those on the other side leave. Further merges go with the side that they came by.
 *
 * The root of those who leave is the oldest of them. None of them holds the EXTERNAL identifier, which is always the root's, and
 * among such profiles it is always the oldest that merges make the root: so a root that lost a merge is one again.
 *
 * Undefined when the two sides are held together by others as well; the merges of one customer never are so many.
 */
export function splitCustomer(
  rootId: string,
  members: readonly Member[],
  link: Link,
  others: readonly Link[],
): Split | undefined {
  const side = reachableFrom(link.fromEvidenceId, others);
  if (side.has(link.intoEvidenceId)) return undefined;
  const rootIsOnSide = side.has(rootId);
  const leaving = members.filter(({ profileId }) => side.has(profileId) !== rootIsOnSide);
  const [oldest] = leaving.toSorted((a, b) => a.createdAt - b.createdAt || (a.profileId < b.profileId ? -1 : 1));
  if (oldest === undefined) return undefined;
  return { newRootId: oldest.profileId, leaving: leaving.map(({ profileId }) => profileId).sort() };
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
