import fc from 'fast-check';
import { cpuMsSince } from '../../../../test/support/cpu-time';
import { entriesOf } from './json-entries';

/** JSON text with white space wherever it may stand. */
const spaced = (value: unknown): string => JSON.stringify(value, null, 1);

function entryTexts(json: string, field: string): string[] {
  const entries = entriesOf(Buffer.from(json), field);
  return Array.from({ length: entries.count }, (_unused, index) => entries.text(index));
}

describe('the texts of the entries of a list', () => {
  it('are the entries, whatever they are and wherever the list stands', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.jsonValue(), fc.jsonValue(), (items, before, after) => {
        for (const json of [JSON.stringify({ before, items, after }), spaced({ before, items, after })]) {
          expect(entryTexts(json, 'items').map((text) => JSON.parse(text) as unknown)).toEqual(
            items.map((item) => JSON.parse(JSON.stringify(item)) as unknown),
          );
        }
      }),
    );
  });

  it('are as they were written', () => {
    expect(entryTexts('{"items": [1e999, {"a" : 12345678901234567890}, "\\u0041", [ ] ]}', 'items')).toEqual([
      ...['1e999', '{"a" : 12345678901234567890}', '"\\u0041"', '[ ]'],
    ]);
  });

  it.each([
    ['{"items":[1],"items":[2,3]}', ['2', '3']],
    ['{"\\u0069tems":[1]}', ['1']],
    ['{"a":{"items":[1]},"b":[["items"]],"items":["],[\\"\\\\"]}', ['"],[\\"\\\\"']],
    ['\ufeff{"items" : [1]}', ['1']],
    ['{"a:\\"b":[1],"items":["ä"]}', ['"ä"']],
    ['{"items":[]}', []],
    ['{"other":[1]}', []],
    ['{}', []],
  ])('of %s are %j', (json, texts) => {
    expect(entryTexts(json, 'items')).toEqual(texts);
  });

  it('are found in milliseconds, however deep and long they are', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const long = `"${'\\\\'.repeat(100_000)}"`;
    const startedAt = process.cpuUsage();
    expect(entryTexts(`{"items":[${deep},${long}]}`, 'items')).toEqual([deep, long]);
    expect(cpuMsSince(startedAt)).toBeLessThan(500);
  });

  it.each(['[]', '{}', '[', ']', '[],', '"a":[]', ',"a":[],', '{"a":[', '[{'])(
    'of malformed text full of %s are looked for once in each member',
    (part) => {
      const startedAt = process.cpuUsage();
      entryTexts(`{"a":${part.repeat(100_000)}`, 'items');
      entryTexts(`]]]{"a":${part.repeat(100_000)}`, 'items');
      expect(cpuMsSince(startedAt)).toBeLessThan(1_000);
    },
  );
});
