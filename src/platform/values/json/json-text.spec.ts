import fc from 'fast-check';
import { depthOf, READABLE_DEPTH_MAX, readableValueOf, valueOfBeginning } from './json-text';
import { cpuMsSince } from '../../../../test/support/cpu-time';

describe('the beginning of a JSON text', () => {
  it('says what is complete in it, wherever it is cut off', () => {
    fc.assert(
      fc.property(fc.object(), fc.nat(200), (object, cut) => {
        const whole = JSON.parse(JSON.stringify(object)) as object;
        const text = JSON.stringify(object).slice(0, cut);
        const value = valueOfBeginning(text);
        if (cut === 0) expect(value).toBeUndefined();
        else
          expect(
            Object.keys(whole)
              .join()
              .startsWith(Object.keys(value as object).join()),
          ).toBe(true);
      }),
    );
  });

  it.each([
    ['{"a":1,"b":[1,2', { a: 1, b: [1] }],
    ['{"a":1,"b":{"c":"x,', { a: 1, b: {} }],
    ['{"a":1,"b', { a: 1 }],
    ['[{"a":"}', [{}]],
    ['"text without an e', undefined],
    ['', undefined],
  ])('of %s is %j', (text, value) => {
    expect(valueOfBeginning(text)).toEqual(value);
  });

  it('is what it says up to its last complete member, whatever closes behind that', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(300), (value, cut) => {
        const text = JSON.stringify([value, [[1], { a: [] }], value]);
        // Each beginning is made whole by what stands behind the last comma or opening bracket; nothing else is left out.
        const shown = JSON.stringify(valueOfBeginning(text.slice(0, cut + 1)));
        const closing = /^[\]}]*/.exec([...shown].reverse().join(''))?.[0].length ?? 0;
        expect(text.startsWith(shown.slice(0, shown.length - closing))).toBe(true);
      }),
    );
  });

  it.each([
    ['lists in one another', '['.repeat(500_000)],
    ['objects in one another', '{"a":'.repeat(100_000)],
    ['entries of a deep list', '['.repeat(250_000) + '1,'.repeat(125_000)],
    ['pairs of brackets', `[${'[],'.repeat(160_000)}`],
    ['strings full of escapes', `["${'\\\\"'.repeat(120_000)}`],
  ])('is found in time that grows with the text: %s', (_what, text) => {
    const startedAt = process.cpuUsage();
    expect(valueOfBeginning(text)).toBeDefined();
    expect(cpuMsSince(startedAt)).toBeLessThan(1_000);
  });
});

describe('what can be read of a JSON text', () => {
  const event = '"identity":{"type":"EMAIL","value":"[{"},"source":"shop"';

  it.each([
    ['lists without an end', `{${event},"attributes":${'['.repeat(200_000)}`],
    ['objects without an end', `{${event},"attributes":${'{"a":'.repeat(50_000)}`],
    ['lists', `{"attributes":${'['.repeat(100_000)}1${']'.repeat(100_000)},${event}}`],
    ['lists that are followed by what is no JSON', `{"attributes":${'[{},'.repeat(9)}[[]]${']'.repeat(9)},${event},}`],
  ])('is no deeper than its readers look: %s', (_what, text) => {
    const value = readableValueOf(text);
    expect(value).toMatchObject({ identity: { type: 'EMAIL', value: '[{' } });
    expect(depthOf(JSON.stringify(value))).toBe(READABLE_DEPTH_MAX);
  });

  it('is all of a value that is not too deep', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: READABLE_DEPTH_MAX - 1 }), (value) => {
        expect(readableValueOf(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it.each(['', 'identity', ']]]]'])('is nothing of %j', (text) => {
    expect(readableValueOf(text)).toBeUndefined();
  });
});

describe('the depth of a JSON text', () => {
  it.each([
    ['1', 0],
    ['"[["', 0],
    ['[]', 1],
    ['{"a":[{"b":1}],"c":"{{{"}', 3],
    ['['.repeat(50_000) + ']'.repeat(50_000), 50_000],
  ])('is counted outside of strings', (json, depth) => {
    expect(depthOf(json)).toBe(depth);
  });
});
