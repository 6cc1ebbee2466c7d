import { identifierKey, type Identifier, type IdentifierKind } from './identifier';
import {
  SEPARATIONS_MAX,
  type KnownCustomer,
  type KnownIdentities,
  type KnownProfile,
  type Separation,
} from './known-identities';
import { planIdentity, type IdentityClaim, type IdentityPlan, type Resolution } from './resolve-profile';

/** `'EMAIL:a'` */
function identifier(text: string): Identifier {
  const colon = text.indexOf(':');
  return { kind: text.slice(0, colon) as IdentifierKind, value: text.slice(colon + 1) };
}

let claimed = 0;
function claim(...identifiers: string[]): IdentityClaim {
  claimed += 1;
  return {
    identifiers: identifiers.map(identifier),
    at: 1_000 + claimed,
    newProfileId: `new${claimed}`,
    eventId: `e${claimed}`,
  };
}

/** Customers by root, oldest first; `'A/M'` is the profile M of the customer A. */
function known(
  holdings: Record<string, string[]>,
  undone: [string, string][] = [],
  erased: string[] = [],
): KnownIdentities {
  const identifiers = new Map<string, KnownProfile>();
  const customers = new Map<string, KnownCustomer>();
  for (const [name, texts] of Object.entries(holdings)) {
    const [rootId = '', profileId = rootId] = name.split('/');
    const held = texts.map(identifier);
    const before = customers.get(rootId);
    const count = (kind: 'EMAIL' | 'PHONE' | 'DEVICE'): number =>
      (before?.counts[kind] ?? 0) + held.filter((each) => each.kind === kind).length;
    customers.set(rootId, {
      rootId,
      externalId: held.find(({ kind }) => kind === 'EXTERNAL')?.value ?? before?.externalId ?? null,
      createdAt: before?.createdAt ?? customers.size,
      erased: erased.includes(rootId),
      counts: { EMAIL: count('EMAIL'), PHONE: count('PHONE'), DEVICE: count('DEVICE') },
    });
    for (const { kind, value } of held) {
      identifiers.set(identifierKey(kind, value), { profileId, rootId, erased: erased.includes(profileId) });
    }
  }
  const rootOf = (id: string): string =>
    Object.keys(holdings)
      .find((name) => name.endsWith(`/${id}`))
      ?.split('/')[0] ?? id;
  const separations = new Map<string, Separation[]>();
  undone.forEach((pair, place) =>
    pair.forEach((profileId, index) => {
      const side = index === 0 ? 'from' : 'into';
      const rootId = rootOf(profileId);
      separations.set(rootId, [...(separations.get(rootId) ?? []), { mergeId: `merge${place}`, side }]);
    }),
  );
  return { identifiers, customers, separations };
}

const LINK = { conflict: 'link', identifiersPerKindMax: 50 } as const;
const REJECT = { ...LINK, conflict: 'reject' } as const;
const phones = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => `PHONE:${from + index}`);

const merges = (plan: IdentityPlan): string[] => plan.merges.map((merge) => `${merge.loserRootId}>${merge.intoRootId}`);
const added = (plan: IdentityPlan): string[] =>
  plan.newIdentifiers.map((each) => `${each.kind}:${each.value}@${each.profileId}`);
/** `*` marks identifiers that no profile owns. */
const unlinked = (plan: IdentityPlan): string[] =>
  plan.unlinked.map(({ kind, value, isOwned }) => `${kind}:${value}${isOwned ? '' : '*'}`);
const otherOwners = (plan: IdentityPlan): string[] =>
  plan.otherOwners.map(({ profileId, rootId }) => `${rootId}/${profileId}`);
const nothing = {
  newProfiles: [],
  newIdentifiers: [],
  merges: [],
  changedRoots: [],
  rootUpdates: [],
  linkedRoots: [],
  unlinked: [],
  otherOwners: [],
};
/** `name`: the profile, or its root and the profile, as in `R/A`. */
const resolved = (name: string, contributes: boolean, ...warnings: string[]): unknown => {
  const [rootId = '', profileId = rootId] = name.split('/');
  return { outcome: 'resolved', profileId, rootId, warnings, contributes };
};
function planOne(
  stored: KnownIdentities,
  one: IdentityClaim,
  policy: Parameters<typeof planIdentity>[2] = LINK,
): IdentityPlan & { resolution?: Resolution } {
  const plan = planIdentity([one], stored, policy);
  const [resolution] = plan.resolutions;
  return resolution === undefined ? plan : { ...plan, resolution };
}

describe('one claim', () => {
  it('without a known identifier creates a profile with all its identifiers', () => {
    const one = claim('EXTERNAL:x', 'EMAIL:a', 'DEVICE:d');
    const id = one.newProfileId;
    const counts = { EMAIL: 1, PHONE: 0, DEVICE: 1 };
    expect(planOne(known({}), one)).toMatchObject({
      ...nothing,
      resolution: resolved(id, true),
      newProfiles: [{ profileId: id, rootId: id, externalId: 'x', createdAt: one.at, counts }],
      newIdentifiers: one.identifiers.map((each) => ({ ...each, profileId: id })),
    });
  });

  it('of one customer adds new identifiers to the profile of the strongest known one', () => {
    const plan = planOne(known({ A: ['EXTERNAL:x'], 'A/M': ['EMAIL:a'] }), claim('EMAIL:a', 'PHONE:p', 'DEVICE:d'));
    expect(plan.resolution).toEqual(resolved('A/M', true));
    expect(added(plan)).toEqual(['PHONE:p@M', 'DEVICE:d@M']);
    expect(plan.rootUpdates).toEqual([{ rootId: 'A', externalId: 'x', counts: { EMAIL: 1, PHONE: 1, DEVICE: 1 } }]);
    expect(plan.changedRoots).toEqual(['A']);
  });

  it('with known identifiers only changes and locks nothing', () => {
    const stored = known({ A: ['EXTERNAL:x', 'EMAIL:a'] });
    expect(planOne(stored, claim('EXTERNAL:x', 'EMAIL:a'))).toMatchObject({
      ...nothing,
      resolution: resolved('A', false),
    });
  });

  it('adds a new EXTERNAL identifier to the profile of the strongest known one, and to the row of the root', () => {
    const plan = planOne(known({ A: ['EMAIL:a'], 'A/M': ['DEVICE:d'] }), claim('EXTERNAL:x', 'PHONE:p', 'DEVICE:d'));
    expect(added(plan)).toEqual(['EXTERNAL:x@M', 'PHONE:p@M']);
    expect(plan.resolution).toEqual(resolved('A/M', true));
    expect(plan.rootUpdates).toMatchObject([{ rootId: 'A', externalId: 'x' }]);
  });

  it('merges several customers into the oldest, and belongs to the profile of its strongest identifier', () => {
    const one = claim('EMAIL:a', 'PHONE:p', 'DEVICE:d');
    const plan = planOne(known({ A: ['DEVICE:d'], B: ['EMAIL:a'], C: ['PHONE:p'] }), one);
    expect(plan.resolution).toEqual(resolved('A/B', true));
    expect(merges(plan)).toEqual(['B>A', 'C>A']);
    expect(plan.merges[0]).toMatchObject({ finalRootId: 'A', eventId: one.eventId, at: one.at });
    expect(plan.changedRoots).toEqual(['A', 'B', 'C']);
    expect(plan.rootUpdates).toEqual([{ rootId: 'A', externalId: null, counts: { EMAIL: 1, PHONE: 1, DEVICE: 1 } }]);
  });

  it('merges into the one customer with an EXTERNAL identifier, even if it is the youngest', () => {
    const plan = planOne(known({ A: ['EMAIL:a'], B: ['EXTERNAL:x', 'DEVICE:d'] }), claim('EMAIL:a', 'DEVICE:d'));
    expect(merges(plan)).toEqual(['A>B']);
    expect(plan.resolution).toEqual(resolved('B/A', true));
  });

  it('compares ids if two customers have the same age, so that every node merges the same way', () => {
    const stored = known({ B: ['EMAIL:a'], A: ['PHONE:p'] });
    const customers = new Map([...stored.customers].map(([id, customer]) => [id, { ...customer, createdAt: 7 }]));
    expect(merges(planOne({ ...stored, customers }, claim('EMAIL:a', 'PHONE:p')))).toEqual(['B>A']);
  });

  it('adds a new EXTERNAL identifier to the oldest customer without one', () => {
    const plan = planOne(known({ A: ['DEVICE:d'], B: ['EMAIL:a'] }), claim('EXTERNAL:x', 'EMAIL:a', 'DEVICE:d'));
    expect(merges(plan)).toEqual(['B>A']);
    expect(added(plan)).toEqual(['EXTERNAL:x@B']);
    expect(plan.resolution).toEqual(resolved('A/B', true));
    expect(plan.rootUpdates).toMatchObject([{ rootId: 'A', externalId: 'x' }]);
  });

  it('whose weaker identifiers belong to two customers with EXTERNAL ones is a conflict and changes nothing', () => {
    const stored = known({ A: ['EXTERNAL:x', 'EMAIL:a'], B: ['EXTERNAL:y', 'DEVICE:d'], C: ['PHONE:p'] });
    expect(planOne(stored, claim('EMAIL:a', 'PHONE:p', 'DEVICE:d'))).toMatchObject({
      ...nothing,
      resolution: { outcome: 'identity_conflict' },
    });
  });

  it('with an identifier of an erased person changes nothing', () => {
    const stored = known({ A: ['EXTERNAL:x'], B: ['EMAIL:a'] }, [], ['B']);
    for (const one of [claim('EMAIL:a'), claim('EXTERNAL:x', 'EMAIL:a'), claim('EMAIL:a', 'DEVICE:new')]) {
      expect(planOne(stored, one)).toMatchObject({ ...nothing, resolution: { outcome: 'profile_erased' } });
    }
  });

  it('is refused as erased if only the root of its profile is erased, read or not', () => {
    const stored = known({ A: ['EXTERNAL:x'], 'A/M': ['EMAIL:a'] }, [], ['A']);
    expect(planOne(stored, claim('EMAIL:a')).resolution).toEqual({ outcome: 'profile_erased' });
    const unread = { ...known({ A: ['EMAIL:a'] }, [['A', 'Z']], ['A']), customers: new Map() };
    expect(planOne(unread, claim('EMAIL:a')).resolution).toEqual({ outcome: 'profile_erased' });
  });
});

describe('a weaker identifier of another customer', () => {
  const stored = known({ A: ['EXTERNAL:x'], B: ['EXTERNAL:y', 'EMAIL:b'], C: ['DEVICE:c'] });

  it('stays where it is if that customer has an EXTERNAL identifier, while the others follow', () => {
    const plan = planOne(stored, claim('EXTERNAL:x', 'EMAIL:b', 'PHONE:p', 'DEVICE:c'));
    expect(plan.resolution).toEqual(resolved('A', true, 'identity_link_refused'));
    expect(merges(plan)).toEqual(['C>A']);
    expect(added(plan)).toEqual(['PHONE:p@A']);
    expect(plan.changedRoots).toEqual(['A', 'B', 'C']);
    expect([unlinked(plan), otherOwners(plan)]).toEqual([['EMAIL:b'], ['B/B', 'A/C']]);
  });

  it('does not prevent a new profile for a new EXTERNAL identifier', () => {
    const one = claim('EXTERNAL:z', 'EMAIL:b', 'PHONE:p');
    const plan = planOne(stored, one);
    expect(plan.resolution).toEqual(resolved(one.newProfileId, true, 'identity_link_refused'));
    expect(added(plan)).toEqual([`EXTERNAL:z@${one.newProfileId}`, `PHONE:p@${one.newProfileId}`]);
  });

  it('is a conflict that changes nothing under the policy reject', () => {
    for (const one of [claim('EXTERNAL:x', 'EMAIL:b', 'DEVICE:c'), claim('EXTERNAL:z', 'EMAIL:b')]) {
      expect(planOne(stored, one, REJECT)).toMatchObject({ ...nothing, resolution: { outcome: 'identity_conflict' } });
    }
    expect(planOne(stored, claim('EXTERNAL:x', 'DEVICE:c'), REJECT).resolution).toEqual(resolved('A', true));
  });
});

describe('an undone merge', () => {
  const stored = known({ A: ['DEVICE:d'], B: ['EMAIL:a'], C: ['PHONE:p'] }, [['A', 'B']]);

  it('has a lasting effect: the event goes to the customer of its strongest identifier', () => {
    const plan = planOne(stored, claim('EMAIL:a', 'PHONE:p', 'DEVICE:d'));
    expect(plan.resolution).toEqual(resolved('B', true, 'identity_link_refused'));
    expect(merges(plan)).toEqual(['C>B']);
    expect([unlinked(plan), otherOwners(plan)]).toEqual([['DEVICE:d'], ['B/C', 'A/A']]);
  });

  it('gives a new EXTERNAL identifier to the customer of the stronger identifier, even if the other is older', () => {
    const plan = planOne(stored, claim('EXTERNAL:x', 'EMAIL:a', 'DEVICE:d'));
    expect(added(plan)).toEqual(['EXTERNAL:x@B']);
    expect(merges(plan)).toEqual([]);
  });

  it('has its effect after further merges of either side, also within the batch', () => {
    const chained = planIdentity([claim('EMAIL:a', 'PHONE:p'), claim('PHONE:p', 'DEVICE:d')], stored, LINK);
    expect(merges(chained)).toEqual(['C>B']);
    expect(chained.resolutions[1]).toEqual(resolved('B/C', false, 'identity_link_refused'));
    const members = known({ R: ['EMAIL:r'], 'R/A': ['DEVICE:d'], S: ['EMAIL:s'], 'S/B': ['PHONE:p'] }, [['A', 'B']]);
    const separated = planOne(members, claim('EMAIL:r', 'PHONE:p'));
    expect(separated.resolution).toEqual(resolved('R', false, 'identity_link_refused'));
  });

  it('prevents all merges of a customer with more separations than are read', () => {
    const often = Array.from({ length: SEPARATIONS_MAX }, (_unused, n): Separation => ({
      mergeId: String(n),
      side: 'into',
    }));
    const answers = [often, often.slice(1)].map((separations) => {
      const full = { ...known({ A: ['EMAIL:a'], B: ['PHONE:p'] }), separations: new Map([['A', separations]]) };
      return planOne(full, claim('EMAIL:a', 'PHONE:p')).resolution;
    });
    expect(answers).toEqual([resolved('A', false, 'identity_link_refused'), resolved('A', true)]);
  });

  it('has its effect for every profile that merged into a side', () => {
    const apart: [string, string][] = [
      ['A', 'B'],
      ['C', 'D'],
    ];
    const four = known({ A: ['EMAIL:a'], B: ['EMAIL:b'], C: ['PHONE:c'], D: ['PHONE:d'] }, apart);
    const plan = planIdentity(
      [claim('EMAIL:b', 'PHONE:c'), claim('EMAIL:a', 'PHONE:c'), claim('EMAIL:b', 'PHONE:d')],
      four,
      LINK,
    );
    expect(merges(plan)).toEqual(['C>B']);
    expect(plan.resolutions.slice(1)).toEqual([
      resolved('A', false, 'identity_link_refused'),
      resolved('B', false, 'identity_link_refused'),
    ]);
  });

  it('is a refused link for the policy reject too, if the event names an EXTERNAL identifier', () => {
    const reject = (...names: string[]): Resolution | undefined => planOne(stored, claim(...names), REJECT).resolution;
    expect(reject('EXTERNAL:x', 'EMAIL:a', 'DEVICE:d')).toEqual({ outcome: 'identity_conflict' });
    expect(reject('EMAIL:a', 'DEVICE:d')).toEqual(resolved('B', false, 'identity_link_refused'));
  });
});

describe('a full customer', () => {
  it('leaves a further identifier unlinked', () => {
    const stored = known({ A: ['EMAIL:a', ...phones(50)] });
    const plan = planOne(stored, claim('EMAIL:a', 'PHONE:50', 'DEVICE:d'));
    expect(plan.resolution).toEqual(resolved('A', true, 'identity_limit_reached'));
    expect(added(plan)).toEqual(['DEVICE:d@A']);
    expect(unlinked(plan)).toEqual(['PHONE:50*']);
    expect(planOne(stored, claim('EMAIL:b', 'PHONE:49'))).toMatchObject({ resolution: resolved('A', true) });
  });

  it('accepts an event whose strongest identifier stays unlinked', () => {
    const stored = known({ A: [...phones(50), 'DEVICE:d'] });
    const plan = planOne(stored, claim('PHONE:50', 'DEVICE:d'));
    const left = { kind: 'PHONE', value: '50', eventId: expect.any(String), isOwned: false };
    expect(plan).toMatchObject({
      ...nothing,
      unlinked: [left],
      resolution: resolved('A', false, 'identity_limit_reached'),
    });
  });

  it('does not merge beyond the limit; the weaker identifier stays where it is', () => {
    const stored = known({ A: ['DEVICE:d', ...phones(30)], B: ['EMAIL:a', ...phones(21, 30)], C: ['DEVICE:c'] });
    const plan = planOne(stored, claim('EMAIL:a', 'DEVICE:d'));
    const left = { kind: 'DEVICE', value: 'd', eventId: expect.any(String), isOwned: true };
    expect(plan).toMatchObject({
      ...nothing,
      unlinked: [left],
      otherOwners: [{ profileId: 'A', rootId: 'A' }],
      resolution: resolved('B', false, 'identity_limit_reached'),
    });
    expect(merges(planOne(stored, claim('EMAIL:a', 'DEVICE:c')))).toEqual(['C>B']);
  });

  it('may have exactly as many identifiers as the limit', () => {
    const stored = known({ A: ['DEVICE:d', ...phones(30)], B: ['EMAIL:a', ...phones(20, 30)] });
    expect(merges(planOne(stored, claim('EMAIL:a', 'DEVICE:d')))).toEqual(['B>A']);
  });
});

describe('a batch', () => {
  it('says which profiles its events name besides their own, with the roots at its end', () => {
    const stored = known({ A: ['EXTERNAL:x'], 'A/M': ['EMAIL:a'], B: ['DEVICE:b'], C: ['EXTERNAL:c'] });
    const one = planIdentity([claim('EXTERNAL:x', 'EMAIL:a'), claim('EMAIL:a')], stored, LINK);
    expect([unlinked(one), otherOwners(one)]).toEqual([[], ['A/M']]);
    const two = planIdentity([claim('EMAIL:a', 'DEVICE:b'), claim('EXTERNAL:c', 'DEVICE:b')], stored, LINK);
    expect(merges(two)).toEqual(['B>A']);
    expect([unlinked(two), otherOwners(two)]).toEqual([['DEVICE:b'], ['A/B']]);
  });

  it('lets later claims see the effects of earlier ones, and returns final roots', () => {
    const stored = known({ A: ['EMAIL:a'] });
    const batch = [claim('PHONE:p'), claim('DEVICE:d'), claim('PHONE:p', 'DEVICE:d'), claim('EMAIL:a', 'DEVICE:d')];
    const [first = '', second = ''] = batch.map((one) => one.newProfileId);
    const plan = planIdentity(batch, stored, LINK);
    expect(plan.newProfiles).toMatchObject([
      { profileId: first, rootId: 'A' },
      { profileId: second, rootId: 'A' },
    ]);
    expect(merges(plan)).toEqual([`${second}>${first}`, `${first}>A`]);
    expect(plan.merges.map((merge) => merge.finalRootId)).toEqual(['A', 'A']);
    expect(plan.rootUpdates).toEqual([{ rootId: 'A', externalId: null, counts: { EMAIL: 1, PHONE: 1, DEVICE: 1 } }]);
    expect(plan.changedRoots).toEqual(['A']);
  });

  it('does not change its arguments', () => {
    const stored = known({ A: ['EMAIL:a'], B: ['PHONE:p'] }, [['A', 'C']]);
    const before = structuredClone(stored);
    planIdentity([claim('EMAIL:a', 'PHONE:p', 'DEVICE:d'), claim('EXTERNAL:x', 'EMAIL:a')], stored, LINK);
    expect(stored).toEqual(before);
  });

  it('refuses a claim with an identifier of an erased person that no profile owns any more', () => {
    const stored = { ...known({ A: ['EXTERNAL:x'] }), erased: new Set(['EMAIL:a']) };
    const plan = planIdentity([claim('EXTERNAL:x', 'EMAIL:a'), claim('EMAIL:a', 'DEVICE:d')], stored, LINK);
    expect(plan).toEqual({ resolutions: [{ outcome: 'profile_erased' }, { outcome: 'profile_erased' }], ...nothing });
    expect(planOne(stored, claim('EXTERNAL:x', 'DEVICE:d')).resolutions).toEqual([resolved('A', true)]);
  });

  it('returns the final roots of customers that get their EXTERNAL identifier in it', () => {
    const stored = known({ A: ['DEVICE:a'], B: ['DEVICE:b'], C: ['EXTERNAL:c'], D: ['DEVICE:d'], E: ['DEVICE:e'] });
    const plan = planIdentity(
      [
        claim('EXTERNAL:a', 'DEVICE:a'),
        claim('EXTERNAL:c', 'DEVICE:b'),
        claim('EXTERNAL:new'),
        claim('EXTERNAL:new', 'DEVICE:d'),
        claim('EXTERNAL:c', 'EMAIL:c'),
        claim('DEVICE:e', 'EMAIL:e'),
        claim('EXTERNAL:other', 'EMAIL:other'),
      ],
      stored,
      LINK,
    );
    const [, , made] = plan.resolutions;
    expect(new Set(plan.linkedRoots)).toEqual(new Set(['A', 'C', made?.outcome === 'resolved' && made.rootId]));
  });

  it('without claims plans nothing', () => {
    expect(planIdentity([], known({}), LINK)).toEqual({ resolutions: [], ...nothing });
  });

  it('throws if the known identities contradict themselves', () => {
    const stored = { ...known({ A: ['EMAIL:a'] }), customers: new Map() };
    expect(() => planOne(stored, claim('EMAIL:a'))).toThrow('not read');
    expect(() => planOne(known({}), claim('EXTERNAL:x', 'EXTERNAL:y'))).toThrow('two EXTERNAL');
  });
});
