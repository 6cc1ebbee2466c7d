import { aStoredEvent } from '../../../test/support/stored-event';
import { ownValue, RECORD_FIELDS, recordOf } from './event-record';
import fc from 'fast-check';

describe('the record of an event', () => {
  it('has the fields of section 3 and no other, times as text', () => {
    const record = recordOf({ ...aStoredEvent(), contentHash: 'x' } as never);
    expect(Object.keys(record).sort()).toEqual([...RECORD_FIELDS].sort());
    expect(record).toMatchObject({ occurredAt: '2026-01-02T03:04:05.000Z', receivedAt: '2026-01-02T03:04:06.000Z' });
    expect(JSON.parse(JSON.stringify(record))).toEqual(record);
  });
});

describe('what stands at a path', () => {
  it.each<[unknown, string[], unknown]>([
    [{ a: { b: 1 } }, ['a', 'b'], 1],
    [{ a: [{ b: 1 }, { b: 2 }] }, ['a', '1', 'b'], 2],
    [{ '0': 'x' }, ['0'], 'x'],
    [{ a: null }, ['a'], null],
    [{ a: null }, ['a', 'b'], undefined],
    [[1], ['length'], undefined],
    [[1], ['01'], undefined],
    [[1], ['-1'], undefined],
    [[1], ['1'], undefined],
    ['text', ['length'], undefined],
    ['text', ['0'], undefined],
    [{}, ['constructor'], undefined],
    [{}, ['__proto__'], undefined],
    [{ a: [] }, ['a', 'map'], undefined],
    [JSON.parse('{"__proto__": 1}'), ['__proto__'], 1],
  ])('of %j at %j is %j', (root, steps, value) => {
    expect(ownValue(root, steps)).toEqual(value);
  });

  it('is never anything that JSON did not hold', () => {
    const step = fc.oneof(fc.constantFrom('__proto__', 'constructor', 'toString', 'length', '0', 'a'), fc.string());
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(step, { maxLength: 4 }), (root, steps) => {
        const value = ownValue(JSON.parse(JSON.stringify(root)), steps);
        expect(typeof value).not.toBe('function');
        if (value !== undefined) expect(JSON.stringify(root)).toContain(JSON.stringify(value));
      }),
      { numRuns: 500 },
    );
  });
});
