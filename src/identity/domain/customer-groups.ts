import { identifierKey, type Identifier } from './identifier';
import {
  COUNTED_KINDS,
  SEPARATIONS_MAX,
  type CountedKind,
  type KnownCustomer,
  type KnownIdentities,
  type Separation,
} from './known-identities';

/** A customer while a batch is planned: as stored, plus what the claims so far changed. */
export interface CustomerGroup {
  readonly rootId: string;
  readonly createdAt: number;
  /** Whether it was stored before the batch. */
  readonly isStored: boolean;
  /** Whether it was stored before the batch without an EXTERNAL identifier. */
  readonly wasUnlinked: boolean;
  externalId: string | null;
  readonly counts: Record<CountedKind, number>;
  /** Whether it is new or differs from what is stored. */
  hasChanged: boolean;
  mergedInto: CustomerGroup | undefined;
  /** The `separationKey` of each separation of its members. */
  separations: Set<string> | undefined;
}

/** The profile that owns an identifier, and the customer that the profile belongs to so far. */
export interface Holder {
  readonly profileId: string;
  readonly group: CustomerGroup;
}

/**
 * The customers of a batch while it is planned: what is stored, plus what the claims so far changed. A merged group
 * points at its winner (union-find with path halving), so that a look-up stays cheap after any number of merges.
 */
export class CustomerGroups {
  private readonly groups = new Map<string, CustomerGroup>();
  /** The holders of identifiers that the batch added, by `identifierKey`. */
  private readonly added = new Map<string, Holder>();

  constructor(private readonly known: KnownIdentities) {}

  isErased({ kind, value }: Identifier): boolean {
    const key = identifierKey(kind, value);
    if (this.known.erased?.has(key) === true) return true;
    const profile = this.known.identifiers.get(key);
    return profile !== undefined && (profile.erased || this.known.customers.get(profile.rootId)?.erased === true);
  }

  /** Undefined if no profile owns the identifier. The caller checks `isErased` first. */
  holder({ kind, value }: Identifier): Holder | undefined {
    const key = identifierKey(kind, value);
    const stored = this.known.identifiers.get(key);
    if (stored !== undefined) return { profileId: stored.profileId, group: survivor(this.groupOf(stored.rootId)) };
    const holder = this.added.get(key);
    return holder === undefined ? undefined : { profileId: holder.profileId, group: survivor(holder.group) };
  }

  create(rootId: string, createdAt: number): CustomerGroup {
    const group = newGroup({ rootId, createdAt, externalId: null, counts: { EMAIL: 0, PHONE: 0, DEVICE: 0 } }, false);
    this.groups.set(rootId, group);
    return group;
  }

  /** Adds a new identifier to a profile of the group. */
  attach({ kind, value }: Identifier, profileId: string, group: CustomerGroup): void {
    if (kind === 'EXTERNAL' && group.externalId !== null)
      throw new Error('A customer would hold two EXTERNAL identifiers');
    this.added.set(identifierKey(kind, value), { profileId, group });
    if (kind === 'EXTERNAL') group.externalId = value;
    else group.counts[kind] += 1;
    group.hasChanged = true;
  }

  merge(loser: CustomerGroup, winner: CustomerGroup): void {
    if (loser.externalId !== null) throw new Error('A customer with an EXTERNAL identifier would lose its root');
    loser.mergedInto = winner;
    winner.hasChanged = true;
    for (const kind of COUNTED_KINDS) winner.counts[kind] += loser.counts[kind];
    winner.separations = union(loser.separations, winner.separations);
  }

  /** Every customer that a claim named, merged ones too. */
  all(): IterableIterator<CustomerGroup> {
    return this.groups.values();
  }

  private groupOf(rootId: string): CustomerGroup {
    const existing = this.groups.get(rootId);
    if (existing !== undefined) return existing;
    const customer = this.known.customers.get(rootId);
    if (customer === undefined) throw new Error('An identifier names a customer that was not read');
    const group = newGroup(customer, true, this.known.separations.get(rootId));
    this.groups.set(rootId, group);
    return group;
  }
}

/** The group that a group has become part of; itself if it was not merged. */
export function survivor(group: CustomerGroup): CustomerGroup {
  let last = group;
  while (last.mergedInto !== undefined) {
    last.mergedInto = last.mergedInto.mergedInto ?? last.mergedInto;
    last = last.mergedInto;
  }
  return last;
}

/** Whether an undo separated members of one group from members of the other. Such groups never merge. */
export function areSeparated(a: CustomerGroup, b: CustomerGroup): boolean {
  if (a.separations === undefined || b.separations === undefined) return isSeparatedFromAll(a) || isSeparatedFromAll(b);
  if (isSeparatedFromAll(a) || isSeparatedFromAll(b)) return true;
  const [fewer, more] =
    a.separations.size <= b.separations.size ? [a.separations, b.separations] : [b.separations, a.separations];
  for (const separation of fewer) if (more.has(oppositeOf(separation))) return true;
  return false;
}

function isSeparatedFromAll({ separations }: CustomerGroup): boolean {
  return separations !== undefined && separations.size >= SEPARATIONS_MAX;
}

function separationKey({ mergeId, side }: Separation): string {
  return `${side}:${mergeId}`;
}

function oppositeOf(key: string): string {
  const mergeId = key.slice(key.indexOf(':') + 1);
  return separationKey({ mergeId, side: key.startsWith('from:') ? 'into' : 'from' });
}

/** Copies the smaller set, so that over all merges of a batch each separation is copied at most log(n) times. */
function union(a: Set<string> | undefined, b: Set<string> | undefined): Set<string> | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const [fewer, more] = a.size <= b.size ? [a, b] : [b, a];
  for (const separation of fewer) more.add(separation);
  return more;
}

function newGroup(
  customer: Omit<KnownCustomer, 'erased'>,
  isStored: boolean,
  separated?: readonly Separation[],
): CustomerGroup {
  const { rootId, createdAt, externalId } = customer;
  const counts = { ...customer.counts };
  const separations = separated && new Set(separated.map(separationKey));
  return {
    rootId,
    createdAt,
    isStored,
    wasUnlinked: isStored && externalId === null,
    externalId,
    counts,
    hasChanged: !isStored,
    mergedInto: undefined,
    separations,
  };
}
