import type { Identifier } from '../../src/identity/domain/identifier';

/** `EMAIL:a` */
export type IdentifierKey = string;

export const keyOf = ({ kind, value }: Identifier): IdentifierKey => `${kind}:${value}`;

export interface ModelPolicy {
  readonly conflict: 'link' | 'reject';
  readonly identifiersPerKindMax: number;
}

/** What becomes of an event; `keptBy` is the identifier whose customer it belongs to from then on. */
export type ModelAnswer =
  | { readonly code: 'accepted'; readonly warnings: readonly string[]; readonly keptBy: IdentifierKey }
  | { readonly code: 'identity_conflict' | 'profile_erased' };

/** Two identifiers that events hold together; one that is a merge can be undone. */
interface Link {
  readonly a: IdentifierKey;
  readonly b: IdentifierKey;
  readonly isMerge: boolean;
  state: 'in force' | 'undone' | 'erased';
}

const kindOf = (key: IdentifierKey): string => key.slice(0, key.indexOf(':'));
const isExternal = (key: IdentifierKey): boolean => kindOf(key) === 'EXTERNAL';
const pairOf = (a: IdentifierKey, b: IdentifierKey): string => [a, b].sort().join(' ');

/**
 * The rules of contract section 5 and ADR 0007, 0024 and 0046 on nothing but identifiers: no profiles, roots or pointers, no
 * batches, and everything is searched anew each time. A customer is what links in force hold together.
 */
export class CustomerModel {
  private readonly links: Link[] = [];
  /** When each identifier was first seen. */
  private readonly seen = new Map<IdentifierKey, number>();
  private readonly parted = new Set<string>();
  private erased: ReadonlySet<IdentifierKey>[] = [];
  private clock = 0;

  constructor(private readonly policy: ModelPolicy) {}

  /** In the order in which they were made. */
  get merges(): readonly Link[] {
    return this.links.filter(({ isMerge }) => isMerge);
  }

  get identifiers(): readonly IdentifierKey[] {
    return [...this.seen.keys()];
  }

  /** Everybody, each as their sorted identifiers. */
  partition(): string[] {
    return [...new Set(this.identifiers.map((key) => [...this.customerOf(key)].sort().join(' ')))].sort();
  }

  customerOf(key: IdentifierKey): ReadonlySet<IdentifierKey> {
    const reached = new Set([key]);
    for (const each of reached) {
      for (const { a, b, state } of this.links) {
        if (state === 'in force' && a === each) reached.add(b);
        if (state === 'in force' && b === each) reached.add(a);
      }
    }
    return reached;
  }

  /** An event that names these, the strongest first. */
  take(named: readonly IdentifierKey[]): ModelAnswer {
    this.clock += 1;
    if (named.some((key) => this.isErased(key))) return { code: 'profile_erased' };
    const known = named.filter((key) => this.seen.has(key));
    const external = named.find(isExternal);
    const customers: IdentifierKey[] = [];
    for (const key of known) if (!customers.some((other) => this.customerOf(other).has(key))) customers.push(key);
    const withExternal = customers.filter((key) => this.externalOf(key) !== undefined);
    // Rule 3, second case.
    if (external === undefined && withExternal.length > 1) return { code: 'identity_conflict' };

    const warnings = new Set<string>();
    const mayTake = (key: IdentifierKey): boolean =>
      external === undefined || this.externalOf(key) === undefined || this.externalOf(key) === external;
    const home = external !== undefined && this.seen.has(external) ? external : customers.find(mayTake);
    const joined = home === undefined ? [] : [home];
    for (const key of customers) {
      if (key === home) continue;
      const refusal = mayTake(key) ? this.refusalOf(key, joined) : 'identity_link_refused';
      if (refusal === undefined) joined.push(key);
      else warnings.add(refusal);
    }
    if (external !== undefined && this.policy.conflict === 'reject' && warnings.has('identity_link_refused'))
      return { code: 'identity_conflict' };
    this.merge(joined);
    return this.add(named, joined, warnings);
  }

  /** The merge with this place among `merges`. */
  undo(place: number): 'undone' | 'not_found' {
    const merge = this.merges[place];
    if (merge === undefined || merge.state === 'erased') return 'not_found';
    if (merge.state === 'undone') return 'undone';
    merge.state = 'undone';
    for (const a of this.customerOf(merge.a)) for (const b of this.customerOf(merge.b)) this.parted.add(pairOf(a, b));
    return 'undone';
  }

  /** The customer of an identifier: nothing of them is left, also not whom they were parted from. */
  erase(key: IdentifierKey): void {
    const all = this.customerOf(key);
    this.erased.push(all);
    // A customer who comes back is a new one.
    for (const link of this.links) if (link.state === 'in force' && all.has(link.a)) link.state = 'erased';
    for (const each of all) this.seen.delete(each);
    for (const pair of this.parted) if (pair.split(' ').some((each) => all.has(each))) this.parted.delete(pair);
  }

  lift(key: IdentifierKey): number {
    const lifted = this.erased.filter((all) => all.has(key));
    this.erased = this.erased.filter((all) => !all.has(key));
    return lifted.reduce((sum, all) => sum + all.size, 0);
  }

  isErased(key: IdentifierKey): boolean {
    return this.erased.some((all) => all.has(key));
  }

  private externalOf(key: IdentifierKey): IdentifierKey | undefined {
    return [...this.customerOf(key)].find(isExternal);
  }

  private refusalOf(key: IdentifierKey, joined: readonly IdentifierKey[]): string | undefined {
    const own = [...this.customerOf(key)];
    const others = joined.flatMap((each) => [...this.customerOf(each)]);
    if (own.some((a) => others.some((b) => this.parted.has(pairOf(a, b))))) return 'identity_link_refused';
    const isTooLarge = ['EMAIL', 'PHONE', 'DEVICE'].some(
      (kind) => [...own, ...others].filter((each) => kindOf(each) === kind).length > this.policy.identifiersPerKindMax,
    );
    return isTooLarge ? 'identity_limit_reached' : undefined;
  }

  /** Rule 2: into the one with an EXTERNAL identifier, else the oldest. */
  private merge(joined: readonly IdentifierKey[]): void {
    const age = (key: IdentifierKey): number =>
      Math.min(...[...this.customerOf(key)].map((each) => this.seen.get(each) ?? 0));
    const ages = new Map(joined.map((key) => [key, age(key)]));
    const oldest = joined.toSorted((a, b) => (ages.get(a) ?? 0) - (ages.get(b) ?? 0))[0];
    const winner = joined.find((key) => this.externalOf(key) !== undefined) ?? oldest;
    for (const key of joined)
      if (winner !== undefined && key !== winner)
        this.links.push({ a: key, b: winner, isMerge: true, state: 'in force' });
  }

  /** A new identifier goes with the strongest that the event names of its customer. */
  private add(named: readonly IdentifierKey[], joined: readonly IdentifierKey[], warnings: Set<string>): ModelAnswer {
    const ofCustomer = joined[0] === undefined ? new Set<IdentifierKey>() : this.customerOf(joined[0]);
    let beside = named.find((key) => ofCustomer.has(key));
    for (const key of named.filter((each) => !this.seen.has(each))) {
      const customer = beside === undefined ? [] : [...this.customerOf(beside)];
      const ofKind = customer.filter((each) => kindOf(each) === kindOf(key)).length;
      if (!isExternal(key) && ofKind >= this.policy.identifiersPerKindMax) {
        warnings.add('identity_limit_reached');
        continue;
      }
      // The first of a batch is the older one.
      this.seen.set(key, this.clock);
      if (beside === undefined) beside = key;
      else this.links.push({ a: key, b: beside, isMerge: false, state: 'in force' });
    }
    const customer = this.customerOf(beside ?? '');
    const keptBy = named.find((key) => customer.has(key)) ?? '';
    return { code: 'accepted', warnings: [...warnings].sort(), keptBy };
  }
}
