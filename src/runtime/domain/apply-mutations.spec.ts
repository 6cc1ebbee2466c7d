import fc from 'fast-check';
import { Declarations } from '../../variables/domain/declarations';
import type { VariableValue } from '../../variables/domain/variable';
import { fingerprintOf, type MutationIdentity, type MutationResult, type MutationWork } from './mutation-work';
import type { Operation } from './operation';
import { applyMutations, type LockedState, type StateChanges } from './apply-mutations';
import { participantName, rowsToLock } from './state-keys';

const DECLARED = Declarations.from([
  { scope: 'user', name: 'coins', type: 'number', default: 5 },
  { scope: 'user', name: 'motto', type: 'string' },
  { scope: 'campaign', name: 'total', type: 'number' },
  { scope: 'app', name: 'total', type: 'number', default: 1 },
]);
const LIMIT = 2 ** 53;
const HOSTILE = ['a', 'a/b', 'c/a', '', '/', '1/a', 'é', '\u{1F600}', '\uFFFD', '__proto__', 'constructor', "';--"];

let made = 0;

type Fields = Partial<Omit<MutationWork, 'identity'> & MutationIdentity>;

/** A mutation of `ann` in the campaign `c`, each time a new one. */
function aMutation(fields: Fields = {}, owner: Partial<MutationWork['owner']> = {}): MutationWork {
  made += 1;
  const { workId = `work-${made}`, mutationKey = `client:${made}`, fingerprint, ...others } = fields;
  const operations: readonly Operation[] = fields.operations ?? [{ path: 'state.user.coins', op: 'inc', value: 1 }];
  return {
    ...({ tenantId: 't', declarations: DECLARED, sessionId: null, cause: { kind: 'mutation' } } as const),
    operations,
    identity: { workId, mutationKey, fingerprint: fingerprint ?? fingerprintOf(operations) },
    owner: { subject: 'ann', campaignId: 'c', appId: 'a', ...owner },
    ...others,
  };
}

/** The tables of state, as small as they can be. */
class Store {
  private readonly participants = new Map<string, StateChanges['participants'][number]>();
  private readonly shared = new Map<string, StateChanges['shared'][number]>();
  private readonly outcomes = new Map<string, StateChanges['outcomes'][number]>();

  lock(batch: readonly MutationWork[]): LockedState {
    const rows = rowsToLock(batch);
    return {
      atMicros: 0,
      ahead: { participants: new Map(), shared: new Map() },
      clockMs: 0,
      participants: rows.participants.map((key) => {
        const document = this.participants.get(textOf(key))?.document;
        return { key, document: document ?? { values: {}, periods: null, system: { sessionId: null } } };
      }),
      shared: rows.shared.map((key) => ({ key, value: this.shared.get(textOf(key))?.value ?? null })),
      outcomes: rows.outcomes.flatMap((key) => this.outcomes.get(textOf(key)) ?? []),
    };
  }

  store({ participants, shared, outcomes }: StateChanges): void {
    for (const row of participants) this.participants.set(textOf(row.key), row);
    for (const row of shared) this.shared.set(textOf(row.key), row);
    for (const row of outcomes) {
      // The key of the table: nothing of it is ever stored twice.
      if (this.outcomes.has(textOf(row.key))) throw new Error(`Stored twice: ${textOf(row.key)}`);
      this.outcomes.set(textOf(row.key), row);
    }
  }

  apply(batch: readonly MutationWork[]): readonly MutationResult[] {
    const { results, changes } = applyMutations(batch, this.lock(batch));
    this.store(changes);
    return results;
  }

  content(): unknown {
    return [this.participants, this.shared, this.outcomes].map((rows) =>
      [...rows].map(([key, row]) => [key, JSON.stringify(row)]).sort(),
    );
  }
}

/** A key as the database sees it: its columns, in their order. */
function textOf(key: object): string {
  const columns = ['tenantId', 'scope', 'ownerId', 'name', 'subject', 'campaignId', 'mutationKey'];
  return JSON.stringify(columns.map((column) => (key as Record<string, unknown>)[column] ?? null));
}

const value: fc.Arbitrary<VariableValue> = fc.constantFrom(1, 0.1, -3, LIMIT, -LIMIT, 'x', true);
const operation = fc
  .record({
    path: fc.constantFrom('state.user.coins', 'state.user.motto', 'state.campaign.total', 'state.app.total', 'state.x'),
    op: fc.constantFrom('set' as const, 'inc' as const, 'dec' as const),
    value,
  })
  .map((each) => each as Operation);
const work = fc
  .record({
    tenantId: fc.constantFrom('t', 'u'),
    subject: fc.constantFrom(...HOSTILE),
    campaignId: fc.constantFrom('c', 'd'),
    appId: fc.constantFrom('a', 'b'),
    id: fc.constantFrom('1', '2', '1/a', ''),
    sessionId: fc.constantFrom(null, 's1', 's2'),
    operations: fc.array(operation, { minLength: 1, maxLength: 3 }),
  })
  .map(({ subject, campaignId, appId, id, ...fields }) =>
    aMutation({ ...fields, mutationKey: `client:${id}` }, { subject, campaignId, appId }),
  );
const batch = fc.array(work, { maxLength: 12 });

describe('a batch of mutations', () => {
  it('is settled as one by one in the same order, however it is cut', () => {
    fc.assert(
      fc.property(batch, fc.nat(12), (works, cut) => {
        const [whole, halves, single] = [new Store(), new Store(), new Store()];
        const results = whole.apply(works);
        expect([...halves.apply(works.slice(0, cut)), ...halves.apply(works.slice(cut))]).toEqual(results);
        expect(works.flatMap((each) => single.apply([each]))).toEqual(results);
        expect([halves.content(), single.content()]).toEqual([whole.content(), whole.content()]);
      }),
    );
  });

  it('that is settled again after it was stored gives the applied ones their answer again, and changes nothing more', () => {
    fc.assert(
      fc.property(batch, fc.nat(12), fc.boolean(), (works, cut, inHalves) => {
        const store = new Store();
        const first = store.apply(works);
        const stored = store.content();
        const again = inHalves
          ? [...store.apply(works.slice(0, cut)), ...store.apply(works.slice(cut))]
          : store.apply(works);
        works.forEach((_each, index) => {
          if (first[index]?.status === 'applied') expect(again[index]).toEqual(first[index]);
          if (first[index]?.status === 'duplicate') expect(again[index]).toEqual(first[index]);
        });
        // A refused mutation may succeed after the changes of the batch; no answer was sent yet.
        if (first.every(({ status }) => status !== 'refused')) expect(store.content()).toEqual(stored);
      }),
    );
  });

  it('changes no more of what it is given than it says', () => {
    fc.assert(
      fc.property(batch, batch, (before, works) => {
        const store = new Store();
        store.apply(before);
        const locked = store.lock(works);
        const was = structuredClone(locked);
        applyMutations(works, locked);
        expect(locked).toEqual(was);
      }),
    );
  });

  it('writes each row once', () => {
    fc.assert(
      fc.property(batch, (works) => {
        const { changes } = applyMutations(works, new Store().lock(works));
        for (const rows of [changes.participants, changes.shared, changes.outcomes]) {
          expect(new Set(rows.map(({ key }) => textOf(key))).size).toBe(rows.length);
        }
      }),
    );
  });
});

describe('repetitions', () => {
  const statuses = (results: readonly MutationResult[]): string[] => results.map(({ status }) => status);

  it('of one mutation in a batch are applied once and answered with its entries', () => {
    const store = new Store();
    const copies = Array.from({ length: 4 }, () => aMutation({ mutationKey: 'client:x' }));
    const mutations = [{ path: 'state.user.coins', previous: 5, current: 6 }];
    expect(store.apply(copies)).toEqual([
      { status: 'applied', mutations },
      ...Array.from({ length: 3 }, () => ({ status: 'duplicate', mutations, sameOperations: true })),
    ]);
  });

  it('are recognised by what an earlier attempt stored, also when the batch is cut between two copies', () => {
    const store = new Store();
    const copies = [1, 2, 3].map(() => aMutation({ mutationKey: 'client:x' }));
    expect(statuses(store.apply(copies))).toEqual(['applied', 'duplicate', 'duplicate']);
    expect(statuses(copies.flatMap((copy) => store.apply([copy])))).toEqual(['applied', 'duplicate', 'duplicate']);
    expect(statuses(store.apply(copies.toReversed()))).toEqual(['duplicate', 'duplicate', 'applied']);
    expect(statuses(store.apply([aMutation({ mutationKey: 'client:x' })]))).toEqual(['duplicate']);
  });

  it('with other operations are answered with the original, which is said', () => {
    const store = new Store();
    const [first] = store.apply([aMutation({ mutationKey: 'client:x' })]);
    const other = aMutation({
      mutationKey: 'client:x',
      operations: [{ path: 'state.nowhere', op: 'set', value: 'x' }],
    });
    expect(store.apply([other])).toEqual([{ ...first, status: 'duplicate', sameOperations: false }]);
  });

  it('of a refused mutation are applied as soon as they can be, and the refused one stays refused', () => {
    const store = new Store();
    const refused = aMutation({ mutationKey: 'client:x', declarations: Declarations.NONE });
    const works = [refused, aMutation({ mutationKey: 'client:x' }), aMutation({ mutationKey: 'client:x' })];
    expect(statuses(store.apply(works))).toEqual(['refused', 'applied', 'duplicate']);
  });

  it('are those of the same workspace, campaign and participant only', () => {
    const same = { mutationKey: 'client:x' };
    const works = [
      ...[aMutation(same), aMutation({ ...same, tenantId: 'u' }), aMutation({ mutationKey: 'request:x' })],
      ...[aMutation(same, { campaignId: 'd' }), aMutation(same, { subject: 'bob' })],
    ];
    expect(new Set(statuses(new Store().apply(works)))).toEqual(new Set(['applied']));
  });
});

describe('a refused mutation', () => {
  it('leaves no trace, not even of the operations that were good or of its session', () => {
    const operations: Operation[] = [
      ...(['user.coins', 'campaign.total', 'app.total'] as const).map((path): Operation => ({
        path: `state.${path}`,
        op: 'inc',
        value: 1,
      })),
      { path: 'state.user.coins', op: 'inc', value: LIMIT },
    ];
    const { results, changes } = applyMutations(
      [aMutation({ operations, sessionId: 's' })],
      new Store().lock([aMutation({ operations })]),
    );
    expect(results).toMatchObject([{ status: 'refused', refusal: { code: 'validation_failed' } }]);
    expect(changes).toEqual({ participants: [], shared: [], outcomes: [], history: [] });
  });

  it('costs those before and behind it nothing', () => {
    const bad = aMutation({ operations: [{ path: 'state.user.coins', op: 'inc', value: LIMIT }] });
    const results = new Store().apply([aMutation(), bad, aMutation()]);
    expect(results.map(({ status }) => status)).toEqual(['applied', 'refused', 'applied']);
    expect(results[2]).toMatchObject({ mutations: [{ previous: 6, current: 7 }] });
  });
});

describe('the session', () => {
  it('that is kept is the last one that changed something; a token without one does not take it away', () => {
    const store = new Store();
    store.apply([aMutation({ sessionId: 's1' }), aMutation({ sessionId: 's2' }), aMutation()]);
    store.apply([aMutation({ sessionId: 's3', declarations: Declarations.NONE })]);
    const [participant] = store.lock([aMutation()]).participants;
    expect(participant?.document).toEqual({ values: { coins: 8 }, periods: null, system: { sessionId: 's2' } });
  });
});

describe('the rows that a batch locks', () => {
  it('are in one order, whatever the order of the batch, each once, and always with the participants', () => {
    fc.assert(
      fc.property(batch, (works) => {
        const { participants, shared, outcomes } = rowsToLock(works);
        const [names, sharedNames] = [participants.map(textOf), shared.map(textOf)];
        const turned = rowsToLock(works.toReversed());
        expect([turned.participants.map(textOf), turned.shared.map(textOf)]).toEqual([names, sharedNames]);
        for (const texts of [names, sharedNames, outcomes.map(textOf)]) expect(new Set(texts).size).toBe(texts.length);
        const wanted = works.map(({ tenantId, owner: { subject, campaignId } }) =>
          textOf({ tenantId, subject, campaignId }),
        );
        expect(new Set(names)).toEqual(new Set(wanted));
      }),
    );
  });

  it('are those of declared variables, of as many as there are', () => {
    const operations: Operation[] = [
      'state.campaign.total',
      'state.campaign.nothing',
      'state.app.total',
      'nowhere',
    ].map((path) => ({ path, op: 'inc', value: 1 }));
    expect(rowsToLock([aMutation({ operations }), aMutation({ operations })]).shared).toEqual([
      { tenantId: 't', scope: 'app', ownerId: 'a', name: 'total' },
      { tenantId: 't', scope: 'campaign', ownerId: 'c', name: 'total' },
    ]);
  });

  it('have a name of their own for every participant, however hostile the subject', () => {
    const key = fc.record({
      tenantId: fc.constantFrom('t', 'u'),
      campaignId: fc.constantFrom('c', 'a'),
      subject: fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 4 })),
    });
    fc.assert(
      fc.property(key, key, (a, b) => {
        expect(participantName(a) === participantName(b)).toBe(textOf(a) === textOf(b));
      }),
    );
  });
});
