import { Declarations } from '../../variables/domain/declarations';
import { fingerprintOf, type MutationWork } from './mutation-work';
import { applyMutations } from './apply-mutations';
import { rowsToLock } from './state-keys';
import fc from 'fast-check';
import { parseOperations, type Operation } from './operation';

const DECLARATIONS = Declarations.from([{ scope: 'campaign', name: 'total', type: 'number' }]);

describe('a mutation without an identity', () => {
  const aWork = (subject: string, path: string): MutationWork => ({
    tenantId: 't',
    identity: null,
    sessionId: null,
    declarations: DECLARATIONS,
    operations: [{ path, op: 'inc', value: 2 }],
    owner: { campaignId: 'summer', appId: 'default', subject },
    cause: { kind: 'reaction', campaignId: 'summer', reaction: 'count', eventId: 'e' },
  });

  it('is applied as often as it is given, and stores no outcome', () => {
    const work = aWork('', 'state.campaign.total');
    const { results, changes } = applyMutations([work, work], {
      atMicros: 0,
      ahead: { participants: new Map(), shared: new Map() },
      clockMs: 0,
      participants: [],
      shared: [],
      outcomes: [],
    });
    expect(results.map(({ status }) => status)).toEqual(['applied', 'applied']);
    expect(changes.shared).toMatchObject([{ key: { ownerId: 'summer', name: 'total' }, value: 4 }]);
    expect([changes.participants, changes.outcomes]).toEqual([[], []]);
    expect(changes.history.map(({ previous, current }) => [previous, current])).toEqual([
      [null, 2],
      [2, 4],
    ]);
  });

  it('locks a participant only where it is one’s own', () => {
    const locked = (...works: MutationWork[]): string[] => rowsToLock(works).participants.map(({ subject }) => subject);
    expect(locked(aWork('', 'state.campaign.total'))).toEqual([]);
    expect(locked(aWork('', 'state.campaign.total'), aWork('ann', 'state.user.coins'))).toEqual(['ann']);
    expect(rowsToLock([aWork('ann', 'state.user.coins')]).outcomes).toEqual([]);
  });
});

function fingerprint(json: string): string {
  const parsed = parseOperations(JSON.parse(json));
  if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults));
  return fingerprintOf(parsed.operations);
}

describe('fingerprintOf', () => {
  it('is the same however the JSON is spaced, ordered and its numbers and texts are written', () => {
    const plain = fingerprint('[{"path":"a","op":"set","value":100},{"path":"b","op":"set","value":"ä"}]');
    const same = '[ {"value":1.00e2,"path":"a","op":"set"}, {"op":"set","value":"\\u00e4","path":"\\u0062"} ]';
    expect(fingerprint(same)).toBe(plain);
    expect(fingerprint('[{"path":"a","op":"set","value":-0}]')).toBe(
      fingerprint('[{"path":"a","op":"set","value":0.0}]'),
    );
  });

  it('is 32 bytes', () => {
    expect(Buffer.from(fingerprintOf([]), 'base64')).toHaveLength(32);
  });

  it.each<[string, Operation, Operation]>([
    ['inc and dec', { path: 'a', op: 'inc', value: 1 }, { path: 'a', op: 'dec', value: 1 }],
    ['inc and set', { path: 'a', op: 'inc', value: 1 }, { path: 'a', op: 'set', value: 1 }],
    ['a number and its text', { path: 'a', op: 'set', value: 1 }, { path: 'a', op: 'set', value: '1' }],
    ['true and its text', { path: 'a', op: 'set', value: true }, { path: 'a', op: 'set', value: 'true' }],
    ['two paths', { path: 'a', op: 'set', value: 1 }, { path: 'b', op: 'set', value: 1 }],
    ['two values', { path: 'a', op: 'inc', value: 1 }, { path: 'a', op: 'inc', value: 1.0000000000000002 }],
    ['commas at another position', { path: 'a,set', op: 'set', value: 'b' }, { path: 'a', op: 'set', value: 'set,b' }],
  ])('tells %s apart', (_name, one, other) => {
    expect(fingerprintOf([one]) === fingerprintOf([other])).toBe(false);
  });

  it('tells any two different lists of operations apart, and no two equal ones', () => {
    const text = fc.oneof(fc.constantFrom('a', 'b', '","', '1', 'true', ''), fc.string());
    const set = fc.record({
      path: text,
      op: fc.constant('set' as const),
      value: fc.oneof(text, fc.nat(2), fc.boolean()),
    });
    const adjust = fc.record({ path: text, op: fc.constantFrom('inc' as const, 'dec' as const), value: fc.nat(2) });
    const operations: fc.Arbitrary<Operation[]> = fc.array(fc.oneof(set, adjust), { maxLength: 4 });
    const isEqual = (a: Operation[], b: Operation[]): boolean =>
      a.length === b.length && a.every((x, i) => x.path === b[i]?.path && x.op === b[i].op && x.value === b[i].value);
    fc.assert(
      fc.property(operations, operations, fc.nat(), (a, b, seed) => {
        expect(fingerprintOf(a) === fingerprintOf(b)).toBe(isEqual(a, b));
        expect(fingerprintOf(a) === fingerprintOf(structuredClone(a))).toBe(true);
        // Another order is another mutation: set and inc do not commute.
        const turned = a.length === 0 ? a : [...a.slice(seed % a.length), ...a.slice(0, seed % a.length)];
        expect(fingerprintOf(a) === fingerprintOf(turned)).toBe(isEqual(a, turned));
      }),
      { numRuns: 1_000 },
    );
  });
});
