import fc from 'fast-check';
import { IDENTIFIER_KINDS, identityRules, normaliseIdentifier, type IdentifierKind } from './identifier';
import { cpuMsSince } from '../../../test/support/cpu-time';

const RULES = identityRules(undefined, []);
const GERMAN = identityRules('de', []);

function normalised(kind: IdentifierKind, raw: string, rules = RULES): string {
  const outcome = normaliseIdentifier(kind, raw, 'identity.value', rules);
  return 'fault' in outcome ? `! ${outcome.fault.code}` : outcome.identifier.value;
}

const anyKind = fc.constantFrom(...IDENTIFIER_KINDS);
const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength });
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...' \u00a0\ufeffİΣſKaA@.+-0') }),
  fc.emailAddress(),
  fc.tuple(fc.constantFrom('+', '00', '0', ''), digits(3, 15)).map((parts) => parts.join('')),
);

describe('normaliseIdentifier', () => {
  it('returns a normalised value unchanged', () => {
    fc.assert(
      fc.property(anyKind, anyText, fc.constantFrom(RULES, GERMAN, identityRules('CA', [])), (kind, raw, rules) => {
        const once = normalised(kind, raw, rules);
        fc.pre(!once.startsWith('!'));
        expect(normalised(kind, once, rules)).toBe(once);
        expect(normalised(kind, once, RULES)).toBe(once);
      }),
      { numRuns: 2_000 },
    );
  });

  it('trims every kind of white space, and invisible characters next to it', () => {
    for (const blank of [
      ' ',
      '\t',
      '\r\n',
      '\u00a0',
      '\u0085',
      '\u2003',
      '\u2028',
      '\u3000',
      '\ufeff',
      '\u200b',
      '\u2060',
    ]) {
      expect(normalised('EXTERNAL', `${blank}${blank}Customer 7${blank}`)).toBe('Customer 7');
      expect(normalised('EMAIL', `${blank}a@b.de${blank}`)).toBe('a@b.de');
      expect(normalised('PHONE', `${blank}+491701234567${blank}`)).toBe('+491701234567');
    }
  });

  it('keeps the case of EXTERNAL and DEVICE, lower-cases EMAIL, and keeps dots and plus', () => {
    expect(normalised('EXTERNAL', 'AbC')).toBe('AbC');
    expect(normalised('DEVICE', 'AbC')).toBe('AbC');
    expect(normalised('EMAIL', 'Jane.Doe+Shop@Example.COM')).toBe('jane.doe+shop@example.com');
    expect(normalised('EMAIL', 'MÜLLER@BÜCHER.DE')).toBe('müller@bücher.de');
    expect(normalised('EMAIL', 'STRASSE@x.de')).not.toBe(normalised('EMAIL', 'straße@x.de'));
  });

  it.each(['a@b', "o'brien@x.ie", 'a@b.c.d', 'jane@xn--bcher-kva.de', '用户@例子.公司'])(
    'takes %j for an email address',
    (text) => {
      expect(normalised('EMAIL', text)).toBe(text);
    },
  );

  it.each([
    'jane',
    '@b.de',
    'a@',
    'a@@b.de',
    'a@b@c.de',
    'a b@c.de',
    'a@b .de',
    'a@.de',
    'a@b.',
    'a@b..de',
    'a\u0007@b.de',
    'Jane <a@b.de>',
    '<a@b.de>',
    'a@b.de,c@d.de',
    'a@b.de;',
    'mailto:a@b.de',
    '"a"@b.de',
    'a@[10.0.0.1]',
  ])('refuses %j', (text) => {
    expect(normalised('EMAIL', text)).toBe('! format');
  });

  it.each([
    ['+49 170 1234567', '+491701234567'],
    ['+49 (0)170/123-45.67', '+491701234567'],
    ['+1 (212) 555-1234', '+12125551234'],
    ['+39 06 1234 5678', '+390612345678'],
    ['＋４９１７０１２３４５６７', '+491701234567'],
    ['+٤٩١٧٠١٢٣٤٥٦٧', '+491701234567'],
    ['\u202a+491701234567\u202c', '+491701234567'],
  ])('reads the phone number %j as %s, with and without a default region', (text, e164) => {
    expect(normalised('PHONE', text)).toBe(e164);
    expect(normalised('PHONE', text, GERMAN)).toBe(e164);
  });

  it('reads a number without + only with a default region', () => {
    for (const text of ['0170 1234567', '0049 170 1234567', '(0170) 1234567']) {
      expect(normalised('PHONE', text)).toBe('! invalid_phone');
      expect(normalised('PHONE', text, GERMAN)).toBe('+491701234567');
    }
  });

  it.each([
    '+49',
    '112',
    '+999123456789',
    'call +491701234567',
    '+4917O1234567',
    '+49 170 1234567 ext. 5',
    '1-800-FLOWERS',
  ])('refuses the ambiguous phone number %j', (text) => {
    expect(normalised('PHONE', text, GERMAN)).toBe('! invalid_phone');
  });

  it('refuses a local number, which exists in every area code', () => {
    expect(normalised('PHONE', '555-0100', identityRules('CA', []))).toBe('! invalid_phone');
  });

  it.each([
    '',
    '   ',
    '\u200b',
    'null',
    'NULL',
    ' Undefined ',
    'none',
    'nil',
    'NaN',
    'N/A',
    'na',
    'Anonymous',
    'guest',
    'unknown',
    '0',
    '-1',
    'true',
    'FALSE',
    '[object Object]',
    '00000000-0000-0000-0000-000000000000',
  ])('refuses the placeholder %j for every kind', (text) => {
    for (const kind of IDENTIFIER_KINDS) expect(normalised(kind, text)).toBe('! placeholder_identity');
  });

  it.each([
    '\u200c',
    '\u200e\u00ad',
    '\u3164',
    '\u2800 \u2800',
    '\ufe0f',
    '\u0001',
    'nu\u00adll',
    '0\u200d',
    '\u2066guest\u2069',
  ])('refuses %j, of which people see nothing or a placeholder', (text) => {
    for (const kind of IDENTIFIER_KINDS) expect(normalised(kind, text)).toBe('! placeholder_identity');
  });

  it('leaves invisible characters inside what people see', () => {
    expect(normalised('EXTERNAL', '\u{1f468}\u200d\u{1f469}')).toContain('\u200d');
  });

  it('refuses placeholders that the operator added, besides the built-in ones', () => {
    const rules = identityRules(undefined, [' Test-User ', 'none@x.de']);
    expect(normalised('DEVICE', 'TEST-USER', rules)).toBe('! placeholder_identity');
    expect(normalised('EMAIL', 'None@X.de', rules)).toBe('! placeholder_identity');
    expect(normalised('EXTERNAL', 'null', rules)).toBe('! placeholder_identity');
    expect(normalised('DEVICE', 'TEST-USER')).toBe('TEST-USER');
  });

  it('refuses a phone number that the operator added in every spelling', () => {
    const additions = ['+49 30 1234567', '0170 7654321', 'none@x.de'];
    const rules = identityRules('DE', additions);
    for (const text of [
      '+49301234567',
      '(030) 123-4567',
      '0049 30 1234567',
      '＋４９３０１２３４５６７',
      '+49 170 7654321',
    ]) {
      expect(normalised('PHONE', text, rules)).toBe('! placeholder_identity');
    }
    expect(normalised('PHONE', '+49 30 1234568', rules)).toBe('+49301234568');
    expect(normalised('PHONE', '+49301234567', identityRules(undefined, additions))).toBe('! placeholder_identity');
    expect(normalised('PHONE', '+491707654321', identityRules(undefined, additions))).toBe('+491707654321');
  });

  it('accepts 256 characters after trimming, counting a surrogate pair as one', () => {
    expect(normalised('EXTERNAL', ` ${'x'.repeat(256)} `)).toHaveLength(256);
    expect(normalised('EXTERNAL', '😀'.repeat(256))).toHaveLength(512);
    for (const text of ['x'.repeat(257), '😀'.repeat(257), 'x'.repeat(600)])
      expect(normalised('EXTERNAL', text)).toBe('! too_long');
    // Lower case makes two characters of each.
    expect(normalised('EMAIL', `${'İ'.repeat(200)}@x.de`)).toBe('! too_long');
  });

  it('refuses text that PostgreSQL cannot store', () => {
    for (const text of ['a\u0000b', '\u0000', 'a\ud800', '\udc00b']) {
      for (const kind of IDENTIFIER_KINDS) expect(normalised(kind, text)).toBe('! invalid_characters');
    }
  });

  it('repeats no value in a fault, and names its path', () => {
    fc.assert(
      fc.property(anyKind, anyText, (kind, text) => {
        const outcome = normaliseIdentifier(kind, text, 'identity.email', RULES);
        if (!('fault' in outcome)) return;
        expect(outcome.fault.path).toBe('identity.email');
        expect(outcome.fault.message).toContain('identity.email');
        if (text.trim().length > 12) expect(outcome.fault.message).not.toContain(text.trim());
      }),
    );
  });

  it('checks hostile text of 256 KiB at once', () => {
    const started = process.cpuUsage();
    for (const piece of [' ', '@', 'a@', 'a.', '+1', '\ufeffx', '\u202a', 'İ']) {
      const text = piece.repeat(262_144 / piece.length);
      for (const kind of IDENTIFIER_KINDS)
        for (const raw of [text, `a${text}b`, `${text}!`]) normalised(kind, raw, GERMAN);
    }
    expect(cpuMsSince(started)).toBeLessThan(2_000);
  });
});

describe('identityRules', () => {
  it('refuses a region that the phone library would ignore silently', () => {
    expect(() => identityRules('ZZ', [])).toThrow(RangeError);
    expect(identityRules('gb', []).defaultPhoneRegion).toBe('GB');
  });
});
