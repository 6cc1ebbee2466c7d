import fc from 'fast-check';
import { IdentityStore } from '../../../test/support/identity-model';
import type { Identifier } from './identifier';
import { planIdentity, type IdentityClaim } from './resolve-profile';
import { splitCustomer, type Link, type Member } from './split-customer';
import { cpuMsSince } from '../../../test/support/cpu-time';

const link = (fromEvidenceId: string, intoEvidenceId: string): Link => ({ fromEvidenceId, intoEvidenceId });
/** The older, the earlier in the alphabet. */
const members = (...ids: string[]): Member[] =>
  ids.map((profileId) => ({ profileId, createdAt: profileId.charCodeAt(0) }));

describe('splitCustomer', () => {
  it('parts two profiles, the root staying', () => {
    expect(splitCustomer('A', members('A', 'B'), link('B', 'A'), [])).toEqual({ newRootId: 'B', leaving: ['B'] });
  });

  it('parts them also where the root of now is on the side that lost', () => {
    expect(splitCustomer('X', members('A', 'B', 'X'), link('B', 'A'), [link('B', 'X')])).toEqual({
      newRootId: 'A',
      leaving: ['A'],
    });
  });

  it('lets a later merge go with the side whose identifier it was about', () => {
    const all = members('A', 'B', 'C', 'D');
    const later = [link('C', 'B'), link('D', 'A')];
    expect(splitCustomer('A', all, link('B', 'A'), later)).toEqual({ newRootId: 'B', leaving: ['B', 'C'] });
  });

  it('makes the oldest of those who leave their root, and of equally old ones that with the smaller id', () => {
    const all = [...members('A', 'D'), { profileId: 'C2', createdAt: 67 }, { profileId: 'C1', createdAt: 67 }];
    expect(splitCustomer('A', all, link('D', 'A'), [link('C2', 'D'), link('C1', 'C2')])).toEqual({
      newRootId: 'C1',
      leaving: ['C1', 'C2', 'D'],
    });
  });

  it('parts nothing that others hold together as well', () => {
    const triangle = [link('C', 'B'), link('C', 'A')];
    expect(splitCustomer('A', members('A', 'B', 'C'), link('B', 'A'), triangle)).toBeUndefined();
  });

  it('takes time in proportion to the merges', () => {
    const many = Array.from({ length: 20_000 }, (_unused, n) => ({ profileId: `p${n}`, createdAt: n }));
    const chain = many.slice(1).map(({ profileId }, n) => link(profileId, `p${n}`));
    const [first, ...others] = chain;
    const started = process.cpuUsage();
    expect(splitCustomer('p0', many, first ?? link('', ''), others)?.leaving).toHaveLength(19_999);
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
  ...{ at: index, newProfileId: `p${String(index).padStart(3, '0')}`, eventId: `e${index}` },
});
const POLICY = { conflict: 'link', identifiersPerKindMax: 50 } as const;

function send(store: IdentityStore, claim: IdentityClaim): void {
  store.write(planIdentity([claim], store.read([claim]), POLICY));
}

/** Which of these identifiers are one person's. */
function partitionOf(store: IdentityStore, keys: ReadonlySet<string>): string[] {
  const parts = store.partition().map((part) => part.split(' ').filter((key) => keys.has(key)));
  return parts.flatMap((part) => (part.length > 0 ? [part.join(' ')] : [])).sort();
}

describe('undoing a merge', () => {
  it('restores exactly the partition before it, whatever other merges came before', () => {
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
          // Every other one is made again, so that undoings meet customers of many profiles.
          const again = store.merges.slice(before);
          if (index % 2 === 0) for (const { loser, into, from, met } of again) store.merge(loser, into, from, met);
        });
      }),
      { numRuns: 300 },
    );
  });

  it('parts customers as searching the whole store does, in any order of merges and undoings', () => {
    fc.assert(
      fc.property(fc.array(identifiers, { maxLength: 30 }), fc.array(fc.nat(), { maxLength: 6 }), (sent, undone) => {
        const store = new IdentityStore();
        sent.forEach((all, index) => send(store, claimOf(all, index)));
        for (const index of undone) {
          const merge = store.merges[index % Math.max(1, store.merges.length)];
          if (merge === undefined || merge.undone) continue;
          const rootId = store.rootOf(merge.from);
          const all = store.membersOf(rootId);
          const others = store.merges.filter((each) => each !== merge && !each.undone && all.includes(each.from));
          const split = splitCustomer(
            rootId,
            all.map((profileId) => ({ profileId, createdAt: store.profiles.get(profileId)?.createdAt ?? 0 })),
            link(merge.from, merge.met),
            others.map(({ from, met }) => link(from, met)),
          );
          store.undo(index);
          // As many merges as there are profiles but one: what holds a customer together is a tree.
          expect(others).toHaveLength(all.length - 2);
          expect(split?.leaving).toEqual(store.membersOf(split?.newRootId ?? '').sort());
          expect(
            store
              .membersOf(rootId)
              .concat(split?.leaving ?? [])
              .sort(),
          ).toEqual(all.toSorted());
        }
      }),
      { numRuns: 300 },
    );
  });
});
