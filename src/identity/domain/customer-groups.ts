import type { Identifier, IdentifierKind } from './identifier';

/** The kinds of which a customer may hold several. */
export const COUNTED_KINDS = ['EMAIL', 'PHONE', 'DEVICE'] as const;
export type CountedKind = (typeof COUNTED_KINDS)[number];
/** How many identifiers of each kind a customer holds, over all its profiles. */
export type IdentifierCounts = Readonly<Record<CountedKind, number>>;

/** The profile that an identifier belongs to for ever, and the customer which that profile is part of now. */
export interface KnownProfile {
  readonly profileId: string;
  readonly rootId: string;
  /** The profile or its root is erased. */
  readonly erased: boolean;
}

/** A customer: all profiles with one root. */
export interface KnownCustomer {
  readonly rootId: string;
  readonly externalId: string | null;
  /** Of the root; epoch milliseconds. */
  readonly createdAt: number;
  readonly erased: boolean;
  readonly counts: IdentifierCounts;
}

/** The side of an undone merge on which a profile was when it was undone (docs/adr/0046). */
export interface Parting {
  readonly mergeId: string;
  readonly side: MergeSide;
}

/** That of the profile which lost the merge, or that of the other one. */
export type MergeSide = 'from' | 'into';

/**
 * A customer that was parted this often merges with nobody any more by itself. No more partings than these are read for a
 * profile, so that a merge reads a bounded number of rows; those beyond them must hold too.
 */
export const PARTINGS_MAX = 1_000;

/** What is stored about the identifiers of a batch, in one workspace. */
export interface Known {
  /** By `identifierKey`; those that nobody holds are missing. */
  readonly identifiers: ReadonlyMap<string, KnownProfile>;
  /** By root id; has every root that `identifiers` names, except erased ones. */
  readonly customers: ReadonlyMap<string, KnownCustomer>;
  /**
   * By root id: the undone merges that parted profiles of this customer from others. Customers on different sides of one
   * never merge again by themselves.
   */
  readonly partings: ReadonlyMap<string, readonly Parting[]>;
  /** `identifierKey`s that nobody holds because whoever held them was erased. */
  readonly erased?: ReadonlySet<string>;
}

/** One text for one identifier: no kind contains a colon. */
export function identifierKey(kind: IdentifierKind, value: string): string {
  return `${kind}:${value}`;
}

/** A customer in the working copy. */
export interface Group {
  readonly rootId: string;
  readonly createdAt: number;
  /** Was there before the batch. */
  readonly known: boolean;
  /** Was there before the batch, without an EXTERNAL identifier. */
  readonly unlinkedBefore: boolean;
  externalId: string | null;
  readonly counts: Record<CountedKind, number>;
  /** Is new, or has other values than before the batch. */
  changed: boolean;
  mergedInto: Group | undefined;
  /** Where its members were when somebody parted them from others: `side:mergeId`. */
  partings: Set<string> | undefined;
}

/** An identifier's own profile, and the group that it is in by now. */
export interface Holder {
  readonly profileId: string;
  readonly group: Group;
}

/**
 * The customers of a batch while it is planned: what was known, overlaid with what the claims so far have made of it.
 * Merged groups point at their winners (union-find with path halving), so that any number of merges costs near nothing.
 */
export class CustomerGroups {
  private readonly groups = new Map<string, Group>();
  /** Who holds the identifiers that the batch has added. */
  private readonly added = new Map<string, Holder>();

  constructor(private readonly known: Known) {}

  isErased({ kind, value }: Identifier): boolean {
    const key = identifierKey(kind, value);
    if (this.known.erased?.has(key) === true) return true;
    const profile = this.known.identifiers.get(key);
    return profile !== undefined && (profile.erased || this.known.customers.get(profile.rootId)?.erased === true);
  }

  /** Undefined if nobody holds the identifier. Not to be asked about erased ones. */
  holder({ kind, value }: Identifier): Holder | undefined {
    const key = identifierKey(kind, value);
    const stored = this.known.identifiers.get(key);
    if (stored !== undefined) return { profileId: stored.profileId, group: survivor(this.groupOf(stored.rootId)) };
    const holder = this.added.get(key);
    return holder === undefined ? undefined : { profileId: holder.profileId, group: survivor(holder.group) };
  }

  create(rootId: string, createdAt: number): Group {
    const group = newGroup({ rootId, createdAt, externalId: null, counts: { EMAIL: 0, PHONE: 0, DEVICE: 0 } }, false);
    this.groups.set(rootId, group);
    return group;
  }

  /** Gives a group a new identifier, which belongs to `profileId`, one of the group's profiles, from now on. */
  attach({ kind, value }: Identifier, profileId: string, group: Group): void {
    if (kind === 'EXTERNAL' && group.externalId !== null)
      throw new Error('A customer would hold two EXTERNAL identifiers');
    this.added.set(identifierKey(kind, value), { profileId, group });
    if (kind === 'EXTERNAL') group.externalId = value;
    else group.counts[kind] += 1;
    group.changed = true;
  }

  merge(loser: Group, winner: Group): void {
    if (loser.externalId !== null) throw new Error('A customer with an EXTERNAL identifier would lose its root');
    loser.mergedInto = winner;
    winner.changed = true;
    for (const kind of COUNTED_KINDS) winner.counts[kind] += loser.counts[kind];
    winner.partings = union(loser.partings, winner.partings);
  }

  /** Every customer that a claim has met, merged ones too. */
  all(): IterableIterator<Group> {
    return this.groups.values();
  }

  private groupOf(rootId: string): Group {
    const met = this.groups.get(rootId);
    if (met !== undefined) return met;
    const customer = this.known.customers.get(rootId);
    if (customer === undefined) throw new Error('An identifier names a customer that was not read');
    const group = newGroup(customer, true, this.known.partings.get(rootId));
    this.groups.set(rootId, group);
    return group;
  }
}

/** The group that a group has become part of; itself if it was not merged. */
export function survivor(group: Group): Group {
  let last = group;
  while (last.mergedInto !== undefined) {
    last.mergedInto = last.mergedInto.mergedInto ?? last.mergedInto;
    last = last.mergedInto;
  }
  return last;
}

/** Whether somebody has parted members of one group from members of the other, so that they must not merge. */
export function areParted(a: Group, b: Group): boolean {
  if (a.partings === undefined || b.partings === undefined) return isPartedFromAll(a) || isPartedFromAll(b);
  if (isPartedFromAll(a) || isPartedFromAll(b)) return true;
  const [fewer, more] = a.partings.size <= b.partings.size ? [a.partings, b.partings] : [b.partings, a.partings];
  for (const parting of fewer) if (more.has(oppositeOf(parting))) return true;
  return false;
}

function isPartedFromAll({ partings }: Group): boolean {
  return partings !== undefined && partings.size >= PARTINGS_MAX;
}

function partingKey({ mergeId, side }: Parting): string {
  return `${side}:${mergeId}`;
}

function oppositeOf(key: string): string {
  const mergeId = key.slice(key.indexOf(':') + 1);
  return partingKey({ mergeId, side: key.startsWith('from:') ? 'into' : 'from' });
}

/** The smaller set moves, so that over all merges of a batch a parting moves at most log(n) times. */
function union(a: Set<string> | undefined, b: Set<string> | undefined): Set<string> | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const [fewer, more] = a.size <= b.size ? [a, b] : [b, a];
  for (const parting of fewer) more.add(parting);
  return more;
}

function newGroup(customer: Omit<KnownCustomer, 'erased'>, known: boolean, parted?: readonly Parting[]): Group {
  const { rootId, createdAt, externalId } = customer;
  const counts = { ...customer.counts };
  const partings = parted && new Set(parted.map(partingKey));
  const unlinkedBefore = known && externalId === null;
  return {
    rootId,
    createdAt,
    known,
    unlinkedBefore,
    externalId,
    counts,
    changed: !known,
    mergedInto: undefined,
    partings,
  };
}
