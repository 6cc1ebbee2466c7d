import fc from 'fast-check';
import { IdentityStore } from '../../../test/support/identity-model';
import type { Identifier } from './identifier';
import { planIdentity, type IdentityClaim } from './resolve-profile';
import { splitCustomer, type Link, type LinkedCustomer, type SplitSide } from './split-customer';
import { cpuMsSince } from '../../../test/support/cpu-time';

const link = (fromEvidenceId: string, intoEvidenceId: string): Link => ({ fromEvidenceId, intoEvidenceId });
/** The older, the earlier in the alphabet; `external` owns the EXTERNAL identifier. */
const customer = (rootId: string, ids: string, external?: string): LinkedCustomer => ({
  rootId,
  members: ids.split(' ').map((profileId) => ({ profileId, createdAt: profileId.charCodeAt(0) })),
  externalProfileId: external,
});
/** Both customers, the root first: `{ from: 'B: B C', into: 'A: A' }`. */
const split = (...of: Parameters<typeof splitCustomer>): unknown => {
  const sides = splitCustomer(...of);
  const text = ({ rootId, profileIds }: SplitSide): string => `${rootId}: ${profileIds.join(' ')}`;
  return sides && { from: text(sides.from), into: text(sides.into) };
};

describe('splitCustomer', () => {
  it('splits two profiles; the root stays', () => {
    expect(split(customer('A', 'A B'), link('B', 'A'), [])).toEqual({ from: 'B: B', into: 'A: A' });
  });

  it('also splits them if the current root is on the side that lost the merge', () => {
    expect(split(customer('X', 'A B X', 'X'), link('B', 'A'), [link('B', 'X')])).toEqual({
      from: 'X: B X',
      into: 'A: A',
    });
  });

  it('leaves a later merge with the side whose identifier caused it', () => {
    const later = [link('C', 'B'), link('D', 'A')];
    expect(split(customer('A', 'A B C D'), link('B', 'A'), later)).toEqual({ from: 'B: B C', into: 'A: A D' });
  });

  it('chooses the oldest profile of the leaving side as its root, and the smaller id of two equally old ones', () => {
    expect(split(customer('A', 'A C2 C1 D'), link('D', 'A'), [link('C2', 'D'), link('C1', 'C2')])).toEqual({
      from: 'C1: C1 C2 D',
      into: 'A: A',
    });
  });

  it('chooses the owner of the EXTERNAL identifier as the root of the side that leaves with it', () => {
    const later = [link('B', 'C')];
    expect(split(customer('A', 'A B C', 'C'), link('C', 'A'), later)).toEqual({ from: 'C: B C', into: 'A: A' });
    expect(split(customer('A', 'A B C', 'A'), link('C', 'A'), later)).toEqual({ from: 'B: B C', into: 'A: A' });
  });

  it('chooses the oldest profile as the root of the side that loses the EXTERNAL identifier', () => {
    expect(split(customer('B', 'A B C', 'C'), link('C', 'B'), [link('A', 'B')])).toEqual({
      from: 'C: C',
      into: 'A: A B',
    });
    // The side with the identifier keeps its root.
    expect(split(customer('B', 'A B C D', 'D'), link('C', 'B'), [link('A', 'B'), link('D', 'B')])).toEqual({
      from: 'C: C',
      into: 'B: A B D',
    });
  });

  it('splits nothing if other links connect both sides', () => {
    const triangle = [link('C', 'B'), link('C', 'A')];
    expect(splitCustomer(customer('A', 'A B C'), link('B', 'A'), triangle)).toBeUndefined();
  });

  it('takes time proportional to the number of merges', () => {
    const many = Array.from({ length: 20_000 }, (_unused, n) => ({ profileId: `p${n}`, createdAt: n }));
    const chain = many.slice(1).map(({ profileId }, n) => link(profileId, `p${n}`));
    const [first, ...others] = chain;
    const started = process.cpuUsage();
    const all = { rootId: 'p0', members: many, externalProfileId: 'p19999' };
    expect(splitCustomer(all, first ?? link('', ''), others)?.from.profileIds).toHaveLength(19_999);
    expect(cpuMsSince(started)).toBeLessThan(1_000);
  });
});

const identifiers = fc
  .uniqueArray(fc.tuple(fc.constantFrom('EXTERNAL', 'EMAIL', 'PHONE', 'DEVICE'), fc.nat({ max: 4 })), {
    selector: ([kind]) => kind,
    minLength: 1,
    maxLength: 3,
  })
  .map((all) => all.toSorted().map(([kind, n]): Identifier => ({ kind: kind, value: String(n) })));
const ORDER = ['EXTERNAL', 'EMAIL', 'PHONE', 'DEVICE'];
const claimOf = (all: readonly Identifier[], index: number): IdentityClaim => ({
  identifiers: all.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)),
  at: index,
  newProfileId: `p${String(index).padStart(3, '0')}`,
  eventId: `e${index}`,
});
const POLICY = { conflict: 'link', identifiersPerKindMax: 50 } as const;

function send(store: IdentityStore, claim: IdentityClaim): void {
  store.write(planIdentity([claim], store.read([claim]), POLICY));
}

/** The given identifiers, grouped by customer. */
function partitionOf(store: IdentityStore, keys: ReadonlySet<string>): string[] {
  const parts = store.partition().map((part) => part.split(' ').filter((key) => keys.has(key)));
  return parts.flatMap((part) => (part.length > 0 ? [part.join(' ')] : [])).sort();
}

describe('undoing a merge', () => {
  it('restores exactly the partition before it, after any earlier merges', () => {
    fc.assert(
      fc.property(fc.array(identifiers, { maxLength: 30 }), (sent) => {
        const store = new IdentityStore();
        sent.forEach((all, index) => {
          const claim = claimOf(all, index);
          const [keys, before] = [new Set(store.identifiers.keys()), store.merges.length];
          const partition = partitionOf(store, keys);
          send(store, claim);
          for (let merge = store.merges.length - 1; merge >= before; merge -= 1) store.undo(merge);
          expect(partitionOf(store, keys)).toEqual(partition);
          // Every second merge is made again, so that undos split customers with many profiles.
          const again = store.merges.slice(before);
          if (index % 2 === 0) for (const merge of again) store.mergeAgain(merge);
        });
      }),
      { numRuns: 300 },
    );
  });

  it('splits customers as a search of the whole store does, in any order of merges and undos', () => {
    fc.assert(
      fc.property(fc.array(identifiers, { maxLength: 30 }), fc.array(fc.nat(), { maxLength: 6 }), (sent, undone) => {
        const store = new IdentityStore();
        sent.forEach((all, index) => send(store, claimOf(all, index)));
        for (const index of undone) {
          const merge = store.merges[index % Math.max(1, store.merges.length)];
          if (merge === undefined || merge.sides !== null) continue;
          const rootId = store.rootOf(merge.from);
          const all = store.membersOf(rootId);
          const others = store.merges.filter(
            (each) => each !== merge && each.sides === null && all.includes(each.from),
          );
          const sides = splitCustomer(
            {
              rootId,
              members: all.map((profileId) => ({
                profileId,
                createdAt: store.profiles.get(profileId)?.createdAt ?? 0,
              })),
              externalProfileId: [...store.identifiers].find(
                ([key, owner]) => key.startsWith('EXTERNAL') && all.includes(owner),
              )?.[1],
            },
            link(merge.from, merge.met),
            others.map(({ from, met }) => link(from, met)),
          );
          store.undo(index);
          // The merges of a customer are a tree: one fewer than its profiles.
          expect(others).toHaveLength(all.length - 2);
          const [from, into] = store.merges[index % store.merges.length]?.sides ?? [];
          expect(sides?.from.profileIds).toEqual(from?.toSorted());
          expect(sides?.into.profileIds).toEqual(into?.toSorted());
          for (const side of [sides?.from, sides?.into])
            expect(side?.profileIds).toEqual(store.membersOf(side?.rootId ?? '').sort());
        }
      }),
      { numRuns: 300 },
    );
  });
});
