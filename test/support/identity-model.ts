import { identifierKey, type Identifier } from '../../src/identity/domain/identifier';
import type {
  KnownCustomer,
  KnownIdentities,
  KnownProfile,
  Separation,
} from '../../src/identity/domain/known-identities';
import type { IdentityClaim, IdentityPlan, IdentityPolicy } from '../../src/identity/domain/resolve-profile';

interface StoredMerge {
  readonly loser: string;
  readonly into: string;
  /** The own profiles of the identifiers that met. */
  readonly from: string;
  readonly met: string;
  /** Once it is undone: all that was on the side of `from` then, and all that was on the other. */
  sides: readonly [from: readonly string[], into: readonly string[]] | null;
}

/** The identity tables and the merge log, with no more logic than SQL has. */
export class IdentityStore {
  readonly profiles = new Map<
    string,
    { rootId: string; externalId: string | null; createdAt: number; erased: boolean }
  >();
  readonly identifiers = new Map<string, string>();
  readonly counts = new Map<string, { EMAIL: number; PHONE: number; DEVICE: number }>();
  readonly merges: StoredMerge[] = [];
  /** By identifier: the erased root whose it was. */
  readonly forgotten = new Map<string, string>();

  rootOf(profileId: string): string {
    return this.profiles.get(profileId)?.rootId ?? 'missing';
  }

  membersOf(rootId: string): string[] {
    return [...this.profiles.keys()].filter((profileId) => this.rootOf(profileId) === rootId);
  }

  keysOf(rootId: string): string[] {
    return [...this.identifiers]
      .filter(([, profileId]) => this.rootOf(profileId) === rootId)
      .map(([key]) => key)
      .sort();
  }

  recount(rootId: string): { EMAIL: number; PHONE: number; DEVICE: number } {
    const count = (kind: string): number => this.keysOf(rootId).filter((key) => key.startsWith(kind)).length;
    return { EMAIL: count('EMAIL'), PHONE: count('PHONE'), DEVICE: count('DEVICE') };
  }

  /** Reads no more than the batch names, as the service does. */
  read(claims: readonly IdentityClaim[]): KnownIdentities {
    const identifiers = new Map<string, KnownProfile>();
    const customers = new Map<string, KnownCustomer>();
    for (const key of claims.flatMap((claim) =>
      claim.identifiers.map(({ kind, value }) => identifierKey(kind, value)),
    )) {
      const profileId = this.identifiers.get(key);
      if (profileId === undefined) continue;
      const rootId = this.rootOf(profileId);
      const root = this.profiles.get(rootId);
      const counts = this.counts.get(rootId);
      if (root === undefined || counts === undefined) throw new Error('a root is missing');
      identifiers.set(key, { profileId, rootId, erased: root.erased });
      customers.set(rootId, {
        rootId,
        externalId: root.externalId,
        createdAt: root.createdAt,
        erased: root.erased,
        counts,
      });
    }
    return { identifiers, customers, separations: this.separations(), erased: new Set(this.forgotten.keys()) };
  }

  private separations(): Map<string, Separation[]> {
    const separations = new Map<string, Separation[]>();
    this.merges.forEach(({ sides }, index) =>
      (['from', 'into'] as const).forEach((side, place) => {
        for (const profileId of sides?.[place] ?? []) {
          const rootId = this.rootOf(profileId);
          separations.set(rootId, [...(separations.get(rootId) ?? []), { mergeId: String(index), side }]);
        }
      }),
    );
    return separations;
  }

  /** Whether an undone merge separated a profile of one customer from a profile of the other. */
  areSeparated(rootA: string, rootB: string): boolean {
    const has = (rootId: string, side: readonly string[]): boolean => side.some((each) => this.rootOf(each) === rootId);
    return this.merges.some(
      ({ sides }) =>
        sides !== null &&
        ((has(rootA, sides[0]) && has(rootB, sides[1])) || (has(rootB, sides[0]) && has(rootA, sides[1]))),
    );
  }

  /** Applies merges one after the other; the plan's final roots must be what comes of that. */
  write(plan: IdentityPlan): void {
    for (const { profileId, externalId, createdAt, counts } of plan.newProfiles) {
      if (this.profiles.has(profileId)) throw new Error('a profile was made twice');
      this.profiles.set(profileId, { rootId: profileId, externalId, createdAt, erased: false });
      this.counts.set(profileId, { ...counts });
    }
    for (const { loserRootId, intoRootId, fromEvidenceId, intoEvidenceId } of plan.merges) {
      this.merge(loserRootId, intoRootId, fromEvidenceId, intoEvidenceId);
    }
    const finalRoots = [
      ...plan.newProfiles.map(({ profileId, rootId }) => [profileId, rootId] as const),
      ...plan.merges.map(({ loserRootId, finalRootId }) => [loserRootId, finalRootId] as const),
    ];
    if (finalRoots.some(([profileId, rootId]) => this.rootOf(profileId) !== rootId))
      throw new Error('a final root is wrong');
    for (const { kind, value, profileId } of plan.newIdentifiers) {
      if (this.identifiers.has(identifierKey(kind, value))) throw new Error('an identifier moved');
      this.identifiers.set(identifierKey(kind, value), profileId);
    }
    for (const { rootId, externalId, counts } of plan.rootUpdates) {
      this.set(rootId, { externalId });
      this.counts.set(rootId, { ...counts });
      if (!plan.changedRoots.includes(rootId)) throw new Error('a root changes unlocked');
    }
  }

  merge(loser: string, into: string, from: string, met: string): void {
    if (this.rootOf(into) !== into) throw new Error('a merge goes into a profile that is no root');
    if (this.rootOf(from) !== loser || this.rootOf(met) !== into) throw new Error('a merge has strange evidence');
    this.merges.push({ loser, into, from, met, sides: null });
    for (const member of this.membersOf(loser)) this.set(member, { rootId: into });
  }

  /** Makes an undone merge again; its winner is chosen afresh, because the EXTERNAL identifier may have moved since. */
  mergeAgain(undone: Pick<StoredMerge, 'from' | 'met'>): void {
    const age = (rootId: string): number => this.profiles.get(rootId)?.createdAt ?? 0;
    const ends = [undone.from, undone.met].map((evidence) => ({ evidence, rootId: this.rootOf(evidence) }));
    const [winner, loser] = ends.toSorted(
      (a, b) =>
        Number(this.externalOf(b.rootId) !== null) - Number(this.externalOf(a.rootId) !== null) ||
        age(a.rootId) - age(b.rootId) ||
        (a.rootId < b.rootId ? -1 : 1),
    );
    if (winner === undefined || loser === undefined || winner.rootId === loser.rootId) return;
    this.merge(loser.rootId, winner.rootId, loser.evidence, winner.evidence);
    this.counts.set(winner.rootId, this.recount(winner.rootId));
    this.set(winner.rootId, { externalId: this.externalOf(winner.rootId) });
  }

  /** Takes one edge out and searches afresh what still hangs together by the others. */
  undo(index: number): void {
    const merge = this.merges[index % Math.max(1, this.merges.length)];
    const root = merge === undefined ? undefined : this.profiles.get(this.rootOf(merge.from));
    if (merge === undefined || merge.sides !== null || root?.erased === true) return;
    const formerRoot = this.rootOf(merge.from);
    const reached = new Set([merge.from]);
    for (let size = 0; size < reached.size;) {
      size = reached.size;
      for (const each of this.merges) {
        if (each === merge || each.sides !== null) continue;
        if (reached.has(each.from)) reached.add(each.met);
        if (reached.has(each.met)) reached.add(each.from);
      }
    }
    merge.sides = [[...reached], this.membersOf(formerRoot).filter((profileId) => !reached.has(profileId))];
    const former = this.externalOwner(formerRoot);
    const roots = merge.sides.map((side) => this.reroot(side, formerRoot, former));
    for (const rootId of roots) {
      this.counts.set(rootId, this.recount(rootId));
      this.set(rootId, { externalId: this.externalOf(rootId) });
    }
  }

  /** Makes profiles a customer: with the EXTERNAL identifier under its root or its owner, else under the oldest of them. */
  private reroot(side: readonly string[], formerRoot: string, externalOwner: string | undefined): string {
    const age = (profileId: string): number => this.profiles.get(profileId)?.createdAt ?? 0;
    const [oldest = 'missing'] = side.toSorted((a, b) => age(a) - age(b) || (a < b ? -1 : 1));
    let rootId = oldest;
    if (externalOwner !== undefined && side.includes(externalOwner))
      rootId = side.includes(formerRoot) ? formerRoot : externalOwner;
    for (const member of side) this.set(member, { rootId, externalId: null });
    return rootId;
  }

  private externalOwner(rootId: string): string | undefined {
    return this.identifiers.get(`EXTERNAL:${this.externalOf(rootId) ?? ''}`);
  }

  /** Of the identifiers, not of the root's row. */
  externalOf(rootId: string): string | null {
    const key = this.keysOf(rootId).find((each) => each.startsWith('EXTERNAL'));
    return key?.slice('EXTERNAL:'.length) ?? null;
  }

  erase(index: number): void {
    const roots = [...this.profiles.keys()].filter((profileId) => this.rootOf(profileId) === profileId);
    const rootId = roots[index % Math.max(1, roots.length)];
    if (rootId !== undefined) this.set(rootId, { erased: true });
  }

  /** Erases the customer who has an identifier, and completes it: no customer has their identifiers any more. */
  forget(key: string): void {
    const rootId = this.rootOf(this.identifiers.get(key) ?? '');
    for (const each of this.keysOf(rootId)) {
      this.identifiers.delete(each);
      this.forgotten.set(each, rootId);
    }
    for (const member of this.membersOf(rootId)) this.set(member, { erased: true, externalId: null });
    this.counts.set(rootId, this.recount(rootId));
  }

  lift(key: string): number {
    const rootId = this.forgotten.get(key);
    const lifted = [...this.forgotten].filter(([, owner]) => owner === rootId);
    for (const [each] of lifted) this.forgotten.delete(each);
    return lifted.length;
  }

  partition(): string[] {
    return [...this.profiles.keys()]
      .map((rootId) => this.keysOf(rootId).join(' '))
      .filter((keys) => keys !== '')
      .sort();
  }

  private set(
    profileId: string,
    change: Partial<{ rootId: string; externalId: string | null; erased: boolean }>,
  ): void {
    const profile = this.profiles.get(profileId);
    if (profile === undefined) throw new Error(`no customer has the profile ${profileId}`);
    Object.assign(profile, change);
  }
}

/** The contract's rules, claim by claim on the whole store, with everything counted and searched afresh. */
export function resolveNaively(store: IdentityStore, claim: IdentityClaim, policy: IdentityPolicy): string {
  const customerOf = ({ kind, value }: Identifier): string | undefined => {
    const profileId = store.identifiers.get(identifierKey(kind, value));
    return profileId === undefined ? undefined : store.rootOf(profileId);
  };
  const externalOf = (rootId: string): string | undefined =>
    store.keysOf(rootId).find((key) => key.startsWith('EXTERNAL'));
  const customers = claim.identifiers.flatMap((identifier) => customerOf(identifier) ?? []);
  if (customers.some((rootId) => store.profiles.get(rootId)?.erased)) return 'profile_erased';
  const own = claim.identifiers.find(({ kind }) => kind === 'EXTERNAL');
  const ownKey = own && identifierKey(own.kind, own.value);
  if (own === undefined && new Set(customers.flatMap((rootId) => externalOf(rootId) ?? [])).size > 1)
    return 'identity_conflict';

  const warnings = new Set<string>();
  const joined: string[] = [];
  const home =
    (own && customerOf(own)) ?? customers.find((rootId) => own === undefined || externalOf(rootId) === undefined);
  for (const rootId of home === undefined ? customers : [home, ...customers]) {
    const parted = joined.some((other) => store.areSeparated(rootId, other));
    const together = [...new Set([...joined, rootId])].flatMap((each) => store.keysOf(each));
    const full = ['EMAIL', 'PHONE', 'DEVICE'].some(
      (kind) => together.filter((key) => key.startsWith(kind)).length > policy.identifiersPerKindMax,
    );
    const foreign = own !== undefined && externalOf(rootId) !== undefined && externalOf(rootId) !== ownKey;
    if (joined.includes(rootId)) continue;
    if (foreign || parted) warnings.add('identity_link_refused');
    else if (full) warnings.add('identity_limit_reached');
    else joined.push(rootId);
  }
  if (own !== undefined && policy.conflict === 'reject' && warnings.has('identity_link_refused'))
    return 'identity_conflict';
  return settle(store, claim, policy, joined, warnings);
}

function settle(
  store: IdentityStore,
  claim: IdentityClaim,
  policy: IdentityPolicy,
  joined: string[],
  warnings: Set<string>,
): string {
  const age = (rootId: string): number => store.profiles.get(rootId)?.createdAt ?? 0;
  const isNamed = (rootId: string): boolean => store.keysOf(rootId).some((key) => key.startsWith('EXTERNAL'));
  const ranked = joined.toSorted(
    (a, b) => Number(isNamed(b)) - Number(isNamed(a)) || age(a) - age(b) || (a < b ? -1 : 1),
  );
  const root = ranked[0] ?? claim.newProfileId;
  if (!store.profiles.has(root)) {
    store.profiles.set(root, { rootId: root, externalId: null, createdAt: claim.at, erased: false });
  }
  const evidence = new Map(
    claim.identifiers.toReversed().flatMap(({ kind, value }) => {
      const profileId = store.identifiers.get(identifierKey(kind, value));
      return profileId === undefined ? [] : [[store.rootOf(profileId), profileId] as const];
    }),
  );
  for (const loser of joined.filter((rootId) => rootId !== root)) {
    store.merge(loser, root, evidence.get(loser) ?? 'missing', evidence.get(root) ?? 'missing');
  }
  const holder = ({ kind, value }: Identifier): string | undefined => {
    const profileId = store.identifiers.get(identifierKey(kind, value));
    return profileId !== undefined && store.rootOf(profileId) === root ? profileId : undefined;
  };
  const beside = claim.identifiers.map(holder).find((profileId) => profileId !== undefined) ?? root;
  let made = joined.length !== 1;
  for (const { kind, value } of claim.identifiers) {
    if (store.identifiers.has(identifierKey(kind, value))) continue;
    if (kind !== 'EXTERNAL' && store.recount(root)[kind] >= policy.identifiersPerKindMax) {
      warnings.add('identity_limit_reached');
      continue;
    }
    store.identifiers.set(identifierKey(kind, value), beside);
    made = true;
  }
  const home = claim.identifiers.map(holder).find((profileId) => profileId !== undefined);
  return `resolved ${home} ${[...warnings].sort().join()} ${made}`;
}
