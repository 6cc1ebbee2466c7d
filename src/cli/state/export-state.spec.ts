import { csvLine } from './export-state';

const guarded = (...values: readonly unknown[]): string => csvLine(values, { guardsFormulas: true });
const exact = (...values: readonly unknown[]): string => csvLine(values, { guardsFormulas: false });

describe('a line of CSV', () => {
  it('has fields between commas, and ends as RFC 4180 says', () => {
    expect(guarded('ann', 120, -0.5, true, false)).toBe('ann,120,-0.5,true,false\r\n');
  });

  it.each([
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['two\r\nlines', '"two\r\nlines"'],
    [' padded ', '" padded "'],
    ['inner blank', 'inner blank'],
  ])('quotes %j where it has to', (text, written) => {
    expect(guarded(text)).toBe(`${written}\r\n`);
  });

  it('writes null and empty text differently', () => {
    expect(guarded(null, '', undefined)).toBe(',"",\r\n');
  });

  it('holds lists and objects as JSON', () => {
    expect(guarded([1, 'a'], { a: null })).toBe('"[1,""a""]","{""a"":null}"\r\n');
  });

  it.each(['=1+1', '+49', '-1 day', '@sum', '\tx', '\rx', '\nx', '＝1', '＠x'])(
    'keeps %j from being worked out, unless it is to be exact',
    (text) => {
      const plain = exact(text).trimEnd().replace(/^"|"$/g, '');
      expect(plain.startsWith("'")).toBe(false);
      expect(
        guarded(text)
          .replace(/^"/, '')
          .startsWith(`'${text.slice(0, 1)}`),
      ).toBe(true);
    },
  );

  it('leaves numbers below zero as they are', () => {
    expect(guarded(-1, -1e-7)).toBe('-1,-1e-7\r\n');
  });
});
