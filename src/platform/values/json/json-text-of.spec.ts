import fc from 'fast-check';
import { jsonTextOf } from './json-text-of';

describe('jsonTextOf', () => {
  it('writes what is nested 20,000 deep', () => {
    const text = `${'['.repeat(20_000)}{"a":[1,"x",null,true,{}]}${']'.repeat(20_000)}`;
    expect(jsonTextOf(JSON.parse(text))).toBe(text);
  });

  it('writes what JSON.stringify asks before it writes, and leaves out what it leaves out', () => {
    const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) as unknown;
    const text = jsonTextOf({ at: new Date(0), none: undefined, list: [undefined], deep });
    expect(text.startsWith('{"at":"1970-01-01T00:00:00.000Z","list":[null],"deep":[[')).toBe(true);
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
