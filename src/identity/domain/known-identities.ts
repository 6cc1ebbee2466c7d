import type { Identifier, IdentifierKind } from './identifier';

/** The kinds of which a customer may hold several identifiers. */
export const COUNTED_KINDS = ['EMAIL', 'PHONE', 'DEVICE'] as const satisfies readonly IdentifierKind[];
export type CountedKind = (typeof COUNTED_KINDS)[number];
/** The number of identifiers of each kind, over all profiles of a customer. */
export type IdentifierCounts = Readonly<Record<CountedKind, number>>;

/** The profile that owns an identifier, and the customer that the profile belongs to now. Identifiers never move. */
export interface KnownProfile {
  readonly profileId: string;
  readonly rootId: string;
  /** Whether the profile or its root is erased. */
  readonly erased: boolean;
}

/** A customer: all profiles with the same root. */
export interface KnownCustomer {
  readonly rootId: string;
  readonly externalId: string | null;
  /** When the root was created, in epoch milliseconds. */
  readonly createdAt: number;
  readonly erased: boolean;
  readonly counts: IdentifierCounts;
}

/** The side of an undone merge that a profile was on when the merge was undone (docs/adr/0046). */
export interface Separation {
  readonly mergeId: string;
  readonly side: MergeSide;
}

/** `from`: the side that lost its root by the merge; `into`: the other side. */
export type MergeSide = 'from' | 'into';

/**
 * A customer with this many separations no longer merges automatically. A merge reads at most this many for each
 * profile, so that it reads a bounded number of rows. The rows beyond the limit must have an effect too, hence the
 * rule.
 */
export const SEPARATIONS_MAX = 1_000;

/** What is stored about the identifiers of a batch, in one workspace. */
export interface KnownIdentities {
  /** By `identifierKey`. Identifiers that no profile owns are missing. */
  readonly identifiers: ReadonlyMap<string, KnownProfile>;
  /** By root id. Contains every root that `identifiers` names; erased roots may be missing. */
  readonly customers: ReadonlyMap<string, KnownCustomer>;
  /**
   * By root id: the undone merges that separated profiles of this customer from others. Customers on opposite sides of
   * one never merge automatically again.
   */
  readonly separations: ReadonlyMap<string, readonly Separation[]>;
  /** `identifierKey`s that no profile owns because their owner was erased. */
  readonly erased?: ReadonlySet<string>;
}

/** A customer as it is now, locked so that nobody erases it before the transaction ends. */
export interface HeldCustomer {
  readonly rootId: string;
  readonly isErased: boolean;
  readonly externalId: string | null;
  /** The id of every profile of the customer, the root first. */
  readonly profileIds: readonly string[];
}

/** Two profiles of one customer until a merge was undone. */
export interface PartedProfiles {
  readonly profileId: string;
  readonly otherId: string;
  /** When the merge was undone, or a little later, as the queue writes times. */
  readonly until: string;
}

/** A customer: all profiles that were merged into one. */
export interface Customer {
  /** The id of the customer. The ids of its other profiles keep working. */
  readonly rootId: string;
  /** The ids of all its profiles: the root first, the others by age. */
  readonly profileIds: readonly string[];
  /** The strongest first. */
  readonly identifiers: readonly Identifier[];
  /** When the first event of the oldest profile was received. */
  readonly createdAt: Date;
}
