import Big from 'big.js';
import fc from 'fast-check';
import { cpuMsSince } from '../../../../test/support/cpu-time';
import { parseExactly } from './parse-exactly';

describe('parseExactly', () => {
  it.each([
    ...['0', '-0', '0.0', '0.10', '1.0', '1e2', '100e-2', '1E+02', '29.33', '123456789012.345', '0.000000000000001'],
    ...['9007199254740992', '-9007199254740992', '5e-324', '1.7976931348623157e308', '1e300', '0e-400', '0.000e999'],
    ...['1000000000000000000000', '0.1000000000000000000000', '0.30000000000000004'],
  ])('keeps %s', (literal) => {
    for (const text of [`[1,${literal}]`, `{"a":\n${literal}}`]) expect(parseExactly(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ...['0.1234567890123456789', '1e-400', '-1e-400', '4e-324', '9007199254740993', '-9007199254740993'],
    ...[
      '12345678901234567890',
      '0.30000000000000000001',
      '1.00000000000000000000000001',
      '1e999',
      '12345678901234567e-1000',
    ],
  ])('takes %s for a number that is too large', (literal) => {
    const wrong = literal.startsWith('-') ? -Infinity : Infinity;
    expect(parseExactly(`{"a":[0.5, ${literal}\n,2],"b":${literal}}`)).toEqual({ a: [0.5, wrong, 2], b: wrong });
  });

  it('takes little time for the digits of one number that fills a body', () => {
    const digits = '1'.repeat(5 * 1024 * 1024);
    for (const literal of [digits, `0.${digits}`, `1.${digits.replaceAll('1', '0')}`]) {
      // The least of several: one may be that of a garbage collection, or of code that was not compiled yet.
      const costs = Array.from({ length: 5 }, () => {
        const started = process.cpuUsage();
        expect(parseExactly(`[${literal}]`)).toEqual([Infinity]);
        return cpuMsSince(started);
      });
      expect(Math.min(...costs)).toBeLessThan(150);
    }
  });

  it('looks at no number of more than 1,024 characters, also where a double would keep it', () => {
    const zeros = '0'.repeat(1_022);
    expect(parseExactly(`[1.${zeros},1.${zeros}0]`)).toEqual([1, Infinity]);
  });

  it('looks at no text, and at no key', () => {
    const value = { 'a, 1e-400': ': 0.1234567890123456789', '\\"': '\\", 12345678901234567890', '': ['\\\\', 1e-300] };
    expect(parseExactly(JSON.stringify(value))).toEqual(value);
  });

  it('refuses what is no JSON at the same place as JSON.parse', () => {
    const texts = [
      '[01e-400]',
      '[1e-400x]',
      '{"a":1e-400,}',
      '[1e-400',
      '[.1234567890123456789]',
      '[1-1e-400]',
      '[1e-400 1e-400]',
    ];
    for (const text of texts) {
      const place = (parse: (text: string) => unknown): string => {
        try {
          return `taken: ${String(parse(text))}`;
        } catch (error) {
          return / at position \d+/.exec(String(error))?.[0] ?? 'at the end';
        }
      };
      expect(place(parseExactly)).toBe(place(JSON.parse));
      expect(place(parseExactly)).not.toContain('taken');
    }
  });

  it('keeps exactly those numbers whose shortest decimal text is the same number', () => {
    const digits = fc.stringMatching(/^\d{1,20}$/);
    const literals = fc
      .tuple(digits, fc.option(digits), fc.option(fc.integer({ min: -330, max: 310 })))
      .map(([whole, fraction, power]) => {
        const mantissa = whole.replace(/^0+(?=\d)/, '') + (fraction === null ? '' : `.${fraction}`);
        return power === null ? mantissa : `${mantissa}e${power}`;
      });
    fc.assert(
      fc.property(literals, (literal) => {
        const value = Number(literal);
        const isKept = Number.isFinite(value) && new Big(String(value)).eq(new Big(literal));
        expect(parseExactly(`[${literal}]`)).toEqual([isKept ? value : Infinity]);
      }),
      { numRuns: 2_000 },
    );
  });
});
