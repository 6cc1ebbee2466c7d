import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { hasWrongChecksum, hintOf, makeApiKey } from './api-key-token';

describe('an API key', () => {
  it('is cds_, 32 random characters of base62 and 6 of checksum', () => {
    expect(makeApiKey(randomBytes)).toMatch(/^cds_[0-9A-Za-z]{38}$/);
    expect(makeApiKey(() => new Uint8Array(32))).toBe(`cds_${'0'.repeat(32)}${CHECKSUM_OF_ZEROS}`);
  });

  it('shows every typo of one character by its checksum', () => {
    const key = makeApiKey(randomBytes);
    expect(hasWrongChecksum(key)).toBe(false);
    fc.assert(
      fc.property(fc.integer({ min: 4, max: key.length - 1 }), fc.constantFrom(...'0aZ9bY'), (at, character) => {
        fc.pre(key.charAt(at) !== character);
        expect(hasWrongChecksum(key.slice(0, at) + character + key.slice(at + 1))).toBe(true);
      }),
    );
  });

  it('leaves keys of another form, which an operator may have chosen, to the look-up', () => {
    expect(hasWrongChecksum('an-operator-may-choose-any-32-characters')).toBe(false);
  });

  it('draws every character equally often', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_unused, byte) => byte);
    let next = 0;
    const drawn = new Map<string, number>();
    // 31 keys take 31 × 32 = 992 = 4 × 248 characters: each of the 62 must come 16 times.
    const inTurn = (count: number) => Uint8Array.from({ length: count }, () => bytes[next++ % 248] ?? 0);
    for (let key = 0; key < 31; key += 1) {
      for (const character of makeApiKey(inTurn).slice(4, 36)) drawn.set(character, (drawn.get(character) ?? 0) + 1);
    }
    expect(new Set(drawn.values())).toEqual(new Set([16]));
  });

  it('is hinted at by its first 8 and last 4 characters', () => {
    expect(hintOf('cds_abcdefghijklmnopqrstuvwxyz')).toBe('cds_abcd…wxyz');
  });
});

const CHECKSUM_OF_ZEROS = '2wjyrI';
