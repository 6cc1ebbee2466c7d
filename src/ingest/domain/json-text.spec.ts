import fc from 'fast-check';
import { jsonTextOf } from './json-text';

describe('jsonTextOf', () => {
  it('writes what is nested 20,000 deep', () => {
    const text = `${'['.repeat(20_000)}{"a":[1,"x",null,true,{}]}${']'.repeat(20_000)}`;
    expect(jsonTextOf(JSON.parse(text))).toBe(text);
  });

  it('writes every deep JSON value as JSON.stringify writes it when it is not deep', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const deep = 20_000;
        const nested = JSON.parse(`${'['.repeat(deep)}${JSON.stringify(value)}${']'.repeat(deep)}`) as unknown;
        expect(jsonTextOf(nested).slice(deep, -deep)).toBe(JSON.stringify(value));
      }),
      { numRuns: 30 },
    );
  });
});
