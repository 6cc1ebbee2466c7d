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

/** What is stored about the identifiers of a batch, in one workspace. */
export interface Known {
  /** By `identifierKey`; those that nobody holds are missing. */
  readonly identifiers: ReadonlyMap<string, KnownProfile>;
  /** By root id; has every root that `identifiers` names, except erased ones. */
  readonly customers: ReadonlyMap<string, KnownCustomer>;
  /**
   * `pairKey`s of profiles whose merge was undone: the customers that hold them never merge again by themselves.
   *
   * A merge is logged with the two roots of its time, and either may be a member of another customer today. A pair is
   * found if each of its profiles is the root of its customer now or owns an identifier of `identifiers`; for any other
   * member the caller gives the pair of the two roots of now as well.
   */
  readonly undone: ReadonlySet<string>;
  /** `identifierKey`s that nobody holds because whoever held them was erased. */
  readonly erased?: ReadonlySet<string>;
}

/** One text for one identifier: no kind contains a colon. */
export function identifierKey(kind: IdentifierKind, value: string): string {
  return `${kind}:${value}`;
}

/** One text for two profiles, in either order. Profile ids contain no space. */
export function pairKey(profileA: string, profileB: string): string {
  return profileA < profileB ? `${profileA} ${profileB}` : `${profileB} ${profileA}`;
}

/** A customer in the working copy. */
export interface Group {
  readonly rootId: string;
  readonly createdAt: number;
  /** Was there before the batch. */
  readonly known: boolean;
  externalId: string | null;
  readonly counts: Record<CountedKind, number>;
  /** Is new, or has other values than before the batch. */
  changed: boolean;
  mergedInto: Group | undefined;
  /** Members that somebody has separated from others. */
  separated: string[];
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
  /** Whom each profile was separated from. */
  private readonly partners = new Map<string, string[]>();
  /** The root, before the batch, of each separated profile that we know of. */
  private readonly separatedRoots = new Map<string, string>();

  constructor(private readonly known: Known) {
    if (known.undone.size > 0) this.indexUndone();
  }

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

  /** Whether somebody has separated a profile of one group from a profile of the other. */
  areSeparated(a: Group, b: Group): boolean {
    const [fewer, more] = a.separated.length <= b.separated.length ? [a, b] : [b, a];
    return fewer.separated.some((profileId) =>
      this.partners.get(profileId)?.some((partner) => {
        const rootId = this.separatedRoots.get(partner);
        return rootId !== undefined && survivor(this.groupOf(rootId)) === more;
      }),
    );
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
    // The shorter list moves, so that over all merges a profile moves at most log(n) times.
    const [shorter, longer] =
      loser.separated.length < winner.separated.length
        ? [loser.separated, winner.separated]
        : [winner.separated, loser.separated];
    for (const profileId of shorter) longer.push(profileId);
    winner.separated = longer;
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
    const group = newGroup(customer, true);
    this.groups.set(rootId, group);
    return group;
  }

  private indexUndone(): void {
    for (const pair of this.known.undone) {
      const [a = '', b = ''] = pair.split(' ');
      this.addPartner(a, b);
      this.addPartner(b, a);
    }
    for (const rootId of this.known.customers.keys()) this.markSeparated(rootId, rootId);
    for (const { profileId, rootId } of this.known.identifiers.values()) this.markSeparated(profileId, rootId);
  }

  private addPartner(profileId: string, partner: string): void {
    const partners = this.partners.get(profileId);
    if (partners === undefined) this.partners.set(profileId, [partner]);
    else partners.push(partner);
  }

  private markSeparated(profileId: string, rootId: string): void {
    if (!this.partners.has(profileId) || this.separatedRoots.has(profileId)) return;
    // An erased customer need not have been read, and never merges.
    if (!this.known.customers.has(rootId)) return;
    this.separatedRoots.set(profileId, rootId);
    this.groupOf(rootId).separated.push(profileId);
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

function newGroup(customer: Omit<KnownCustomer, 'erased'>, known: boolean): Group {
  const { rootId, createdAt, externalId } = customer;
  const counts = { ...customer.counts };
  return { rootId, createdAt, known, externalId, counts, changed: !known, mergedInto: undefined, separated: [] };
}
