import fc from 'fast-check';
import { CURSOR_CHARACTERS_MAX, decodeCursor, encodeCursor } from './cursor';

const isStorable = (text: string): boolean => !text.includes('\u0000') && !/\p{Surrogate}/u.test(text);
const storableText = fc.string({ unit: 'binary', maxLength: 20 }).filter(isStorable);
const base64url = (text: string): string => Buffer.from(text, 'utf8').toString('base64url');

describe('a cursor', () => {
  it('gives back exactly the parts it was made of', () => {
    fc.assert(
      fc.property(fc.array(storableText, { maxLength: 4 }), (parts) => {
        expect(decodeCursor(encodeCursor(parts), parts.length)).toEqual(parts);
      }),
    );
  });

  it('travels in a query string as it is', () => {
    fc.assert(
      fc.property(fc.array(storableText, { maxLength: 4 }), (parts) => {
        expect(encodeCursor(parts)).toMatch(/^[A-Za-z0-9_-]+$/);
      }),
    );
  });

  it('of another list, with another number of parts, is refused', () => {
    expect(decodeCursor(encodeCursor(['2026-01-02T03:04:05.000Z', 'b']), 3)).toBeUndefined();
    expect(decodeCursor(encodeCursor([]), 1)).toBeUndefined();
  });

  it('never throws, whatever text a client sends', () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.base64String(),
      fc.json().map(base64url),
      fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64url')),
    );
    fc.assert(
      fc.property(anyText, fc.nat({ max: 3 }), (text, length) => {
        const parts = decodeCursor(text, length);
        if (parts !== undefined) expect(encodeCursor(parts)).toBe(text);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['nothing', ''],
    ['padding', `${base64url('["ab"]')}=`],
    ['the other alphabet', Buffer.from('["??>>"]', 'utf8').toString('base64')],
    ['text that is not JSON', base64url('["a"')],
    ['a JSON string', base64url('"a"')],
    ['an object with a length', base64url('{"length":1,"0":"a"}')],
    ['a number for a part', base64url('[1]')],
    ['null for a part', base64url('[null]')],
    ['a nested part', base64url('[["a"]]')],
    ['U+0000 in a part', base64url('["a\\u0000"]')],
    ['a lone surrogate in a part', base64url('["\\ud800"]')],
    ['a second spelling with white space', base64url('[ "a"]')],
    ['a second spelling with an escape', base64url('["\\u0061"]')],
    [
      'spare bits in the last character',
      base64url('["a"]').replace(/.$/, (last) => String.fromCharCode(last.charCodeAt(0) + 1)),
    ],
    ['bytes that are not UTF-8', Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]).toString('base64url')],
  ])('refuses %s', (_what, text) => {
    expect(decodeCursor(text, 1)).toBeUndefined();
  });

  it('is read up to its longest length and not beyond', () => {
    const longest = ['x'.repeat((CURSOR_CHARACTERS_MAX / 4) * 3 - 4)];
    expect(encodeCursor(longest)).toHaveLength(CURSOR_CHARACTERS_MAX);
    expect(decodeCursor(encodeCursor(longest), 1)).toEqual(longest);
    expect(decodeCursor(base64url(JSON.stringify([`${longest[0]}x`])), 1)).toBeUndefined();
  });

  it('that nobody could send back is never made', () => {
    expect(() => encodeCursor(['x'.repeat(600)])).toThrow(RangeError);
  });
});
