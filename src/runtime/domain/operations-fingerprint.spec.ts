import fc from 'fast-check';
import { parseOperations, type Operation } from './operation';
import { fingerprintOf } from './operations-fingerprint';

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
    ['commas in another place', { path: 'a,set', op: 'set', value: 'b' }, { path: 'a', op: 'set', value: 'set,b' }],
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
