import fc from 'fast-check';
import { readDictionary } from './structured-dictionary';

const refused = (header: string | undefined): string | undefined => {
  try {
    readDictionary('Signature', header);
    return undefined;
  } catch (error) {
    expect(error).toMatchObject({ name: 'DomainError', code: 'invalid_signature' });
    return (error as Error).message;
  }
};

describe('a header that is a dictionary', () => {
  it.each([
    ['nothing', '', []],
    ['one member', 'sig1=:YQ==:', ['sig1']],
    ['members in their order', 'b=1, a=("x" "y");z="1";y', ['b', 'a']],
    ['white space where RFC 9651 lets it stand', '  b=1 ,\t a=( "x"   "y" ); z="1 2"', ['b', 'a']],
    ['a flag', 'a, b;x', ['a', 'b']],
    ['numbers, dates, tokens, booleans', 'a=-1.5, b=tok/en, c=?0, d=@1700000000', ['a', 'b', 'c', 'd']],
  ])('is read: %s', (_what, header, keys) => {
    expect([...readDictionary('Signature', header).keys()]).toEqual(keys);
  });

  it('is missed in words that name it', () => {
    expect(refused(undefined)).toBe('The header Signature is missing; a signed request needs it.');
  });

  it.each([
    ['a key twice', 'sig1=:YQ==:, sig1=:Yg==:'],
    ['a key twice with the same value', 'sig1=1, sig1=1'],
    ['a parameter twice', 'sig1=("a");created=1;created=2'],
    ['a decimal in the place of an integer', 'sig1=("a");created=5.0'],
    ['an integer with leading zeros', 'sig1=("a");created=05'],
    ['minus nothing', 'sig1=("a");created=-0'],
    ['base64 without its padding', 'sig1=:YQ:'],
    ['base64 with spare bits', 'sig1=:YR==:'],
    ['base64 for addresses', 'sig1=:_-8=:'],
    ['true written out', 'sig1=?1'],
    ['upper case in a key', 'Sig1=1'],
    ['a list that does not end', 'sig1=("a"'],
    ['a text that does not end', 'sig1="a'],
    ['a comma at the end', 'sig1=1,'],
    ['commas only', ', , ,'],
    ['an integer of 16 digits', 'sig1=1000000000000000'],
    ['a character that is not ASCII', 'sig1="\u00e9"'],
    ['U+0000', 'sig1="\u0000"'],
    ['a tab in a text', 'sig1="a\tb"'],
    ['JSON', '{"sig1":1}'],
    ['4 KB of parentheses', '('.repeat(4_096)],
    ['4 KB of commas', ','.repeat(4_096)],
    ['a key of the language', '__proto__=1'],
  ])('is refused with %s, and never repeated', (_what, header) => {
    const words = refused(header);
    expect(words).toMatch(/^The header Signature is not a dictionary/);
    expect(words).not.toContain(header.slice(0, 12));
  });

  it('is refused unread beyond 4,096 characters, and never repeated', () => {
    const header = `sig1=(${'a;b '.repeat(1_024)})`;
    expect(refused(header)).toBe('The header Signature is longer than 4096 characters.');
  });

  it('is read or refused, whatever it holds', () => {
    const pieces = fc.constantFrom(...'sig1=("@method");:a=?01.5-, \t"\\*%@\u00ff\u0000');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(pieces, { maxLength: 40 }).map((all) => all.join('')),
        ),
        (header) => {
          refused(header);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
