import fc from 'fast-check';
import { checkFreeForm } from './free-form';

const LIMITS = { bytesMax: 1_000, depthMax: 8, keysMax: 30 };

function faultsOf(json: string, limits = LIMITS): { path: string; code: string }[] {
  return checkFreeForm(JSON.parse(json) as object, 'properties', limits).map(({ path, code }) => ({ path, code }));
}

describe('checkFreeForm', () => {
  it('takes what is within the limits', () => {
    expect(faultsOf('{"amount":29.33,"tags":["a",null,true],"nested":{"x":{"y":1}},"big":9007199254740991}')).toEqual(
      [],
    );
  });

  it('names every number that would not come back as it was sent', () => {
    expect(faultsOf('{"a":1e999,"b":[-1e999],"c":{"d":12345678901234567890},"e":0.1}')).toEqual([
      { path: 'properties.a', code: 'range' },
      { path: 'properties.b[0]', code: 'range' },
      { path: 'properties.c.d', code: 'range' },
    ]);
  });

  it('names every text and key that PostgreSQL cannot store', () => {
    expect(faultsOf('{"a":"x\\u0000","b":["\\ud800"],"c\\u0000":1,"d":"\\ud83d\\ude00"}')).toEqual([
      { path: 'properties["c\uFFFD"]', code: 'invalid_characters' },
      { path: 'properties.a', code: 'invalid_characters' },
      { path: 'properties.b[0]', code: 'invalid_characters' },
    ]);
  });

  it('names a fault beside more values than a function takes arguments', () => {
    const values = `[${'1,'.repeat(300_000)}1]`;
    const limits = { ...LIMITS, bytesMax: 1_048_576 };
    expect(faultsOf(`{"values":${values},"text":"\\ud800"}`, limits)).toEqual([
      { path: 'properties.text', code: 'invalid_characters' },
    ]);
  });

  it('counts levels, keys and bytes to the last one that fits', () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
    expect(faultsOf(nested(8))).toEqual([]);
    expect(faultsOf(nested(9))).toEqual([{ path: 'properties', code: 'too_deep' }]);
    const keys = (count: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_u, key) => [key, 1])));
    expect(faultsOf(keys(30))).toEqual([]);
    expect(faultsOf(keys(31))).toEqual([{ path: 'properties', code: 'too_many_keys' }]);
    // {"a":"…"} takes eight bytes around the text.
    const text = (bytes: number) => JSON.stringify({ a: 'é'.repeat((bytes - 8) / 2) });
    expect(faultsOf(text(1_000))).toEqual([]);
    expect(faultsOf(text(1_002))).toEqual([{ path: 'properties', code: 'too_large' }]);
  });

  it('looks at hostile values of any depth or width without falling over', () => {
    expect(faultsOf(`{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`)).toEqual([
      { path: 'properties', code: 'too_deep' },
    ]);
    expect(faultsOf(`{"a":[${'1,'.repeat(100_000)}1]}`)).toEqual([{ path: 'properties', code: 'too_large' }]);
    expect(faultsOf('{"__proto__":{"constructor":1}}')).toEqual([]);
  });

  it('finds no fault with what is within the limits, and some with everything else', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    const limits = fc.record({ bytesMax: fc.integer({ max: 900 }), depthMax: fc.nat(4), keysMax: fc.nat(12) });
    const objects = fc.object({ maxDepth: 4, values: [fc.string(), fc.double(), fc.boolean(), fc.constant(null)] });
    fc.assert(
      fc.property(objects, limits, (value, { bytesMax, depthMax, keysMax }) => {
        let keys = 0;
        const text = JSON.stringify(value, (_key, member: unknown) => {
          if (typeof member === 'object' && member !== null && !Array.isArray(member))
            keys += Object.keys(member).length;
          return member;
        });
        const numbers = text.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/[\d.e+-]+/g) ?? [];
        const isRight =
          Buffer.byteLength(text) <= bytesMax &&
          depthOf(value) <= depthMax &&
          keys <= keysMax &&
          numbers.every((each) => !Number.isInteger(Number(each)) || Math.abs(Number(each)) <= 2 ** 53) &&
          !text.includes('\\u0000');
        const faults = checkFreeForm(JSON.parse(text) as object, 'p', { bytesMax, depthMax, keysMax });
        expect(faults.length === 0).toBe(isRight);
      }),
      { numRuns: 2_000 },
    );
  });

  it('lets through only what JSON gives back unchanged', () => {
    fc.assert(
      fc.property(fc.object({ maxDepth: 4 }), (value) => {
        const sent = JSON.parse(JSON.stringify(value)) as object;
        if (checkFreeForm(sent, 'p', { bytesMax: 1e6, depthMax: 8, keysMax: 1e4 }).length > 0) return;
        expect(JSON.parse(JSON.stringify(sent))).toEqual(sent);
      }),
    );
  });
});
