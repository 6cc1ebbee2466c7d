import { TraceSearch } from '../../platform/privacy/trace-search';
import { runAtOnce } from '../../platform/values/time-slice';
import { withoutTraces } from './without-traces';

const SEARCH = new TraceSearch({ quoted: ['c-1', '42'], within: ['jane@example.com'], digits: ['491701234567'] });

const rest = (properties: Record<string, unknown>): unknown => runAtOnce(withoutTraces(properties, SEARCH));

describe('withoutTraces', () => {
  it.each([
    [
      { a: 'c-1', b: 'C-1', c: 'of c-1' },
      { b: 'C-1', c: 'of c-1' },
    ],
    [{ said: 'write to Jane@Example.com, please', amount: 1.5 }, { amount: 1.5 }],
    [{ phone: 491701234567, call: '+49 170 / 1234567', other: 491701234568 }, { other: 491701234568 }],
    [{ userId: 42, amount: 42 }, { amount: 42 }],
    [{ 'jane@example.com': { deep: 1 }, kept: { deep: 1 } }, { kept: { deep: 1 } }],
    [{ list: ['c-1', 'c-2', null, ['c-1', true]] }, { list: [null, 'c-2', null, [null, true]] }],
    [
      { a: { b: [{ by: 'c-1', n: 1 }] }, e: {} },
      { a: { b: [{ n: 1 }] }, e: {} },
    ],
    [{ a: null, b: 'c-1' }, { a: null }],
  ])('leaves of %j only %j', (properties, expected) => {
    expect(rest(properties)).toEqual(expected);
  });

  it('treats a member of any name alike', () => {
    const properties = JSON.parse('{"__proto__": {"by": "c-1", "n": 1}, "by": "c-1"}') as Record<string, unknown>;
    expect(JSON.stringify(rest(properties))).toBe('{"__proto__":{"n":1}}');
  });

  it('returns properties that name nobody as they are', () => {
    const properties = { a: { b: ['c-2'] } };
    expect(rest(properties)).toBe(properties);
  });

  it('takes steps of bounded work', () => {
    const steps = withoutTraces({ list: Array.from({ length: 1_000 }, () => 'x'), by: 'c-1' }, SEARCH);
    let count = 0;
    while (steps.next().done !== true) count += 1;
    expect(count).toBeGreaterThanOrEqual(1_000);
  });
});
