import fc from 'fast-check';
import { contactSteps, maskContacts } from './contact-data';
import { maskProperties } from './mask';
import { maskText, maskValue } from './mask-text';
import { runAtOnce } from '../values/time-slice';
import { cpuMsSince } from '../../../test/support/cpu-time';

describe('maskContacts', () => {
  it.each([
    ['write to jane.doe+x@mail.example.com.', 'write to j***@m***.com.'],
    ['Jane <jane@example.com>,bob@y.de', 'Jane <j***@e***.com>,b***@***.de'],
    ['?to=jane%40example.com&x=1', '?***@e***.com&x=1'],
    ['jane\\u0040example.com', 'j***@e***.com'],
    ['jane＠example.com', 'j***@e***.com'],
    ['用户@例子.公司', '用***@例***.***'],
  ])('masks the address in %j', (text, expected) => {
    expect(maskContacts(text)).toBe(expected);
  });

  it.each([
    ...[
      '+49 170 1234567',
      '+491701234567',
      '+49 (0)170/123-4567',
      '%2B491701234567',
      '＋491701234567',
      '+1-212-555-1234',
    ],
    ...[
      '0049 170 1234567',
      '00491701234567',
      '0170 1234567',
      '0170/1234567',
      '(0170) 1234567',
      '(030) 12345678',
      '01701234567',
    ],
    ...[
      '06 12 34 56 78',
      '06.12.34.56.78',
      '(212) 555-1234',
      '212-555-1234',
      '1.212.555.1234',
      '(11) 91234-5678',
      '+٤٩١٧٠١٢٣٤٥٦٧',
    ],
  ])('masks the phone number %s wherever it stands', (number) => {
    for (const text of [number, `call ${number} now`, `tel:${number}.`, `7 ${number} 2026`, `line\\n${number}`]) {
      const shown = maskContacts(text);
      expect(shown).toContain('*******');
      expect(shown.match(/\p{Nd}/gu)?.length ?? 0).toBeLessThanOrEqual(4 + 5);
      expect(shown).not.toContain(number.slice(-6));
    }
  });

  it.each([
    ...[
      '1234567890',
      '1767323045123',
      '4111 1111 1111 1111',
      '978-3-16-148410-0',
      '#0123456789',
      'A-0123456789',
      '0012345678',
    ],
    ...['/orders/0123456789', '1.234.567.890,12', '1 000 000 000 EUR', '0.123456789', '3.0123456789', '+1.5', '-12.50'],
    ...['2026-01-02', '2026-01-02 03:04:05', '2026-01-02T03:04:05+02:00', '02.01.2026 12:30', '01/02/2026 1200 1300'],
    ...['192.168.100.200', '550e8400-e29b-41d4-a716-446655440000', '01923456-7890-7123-8123-123456789012', 'v1.2.3'],
    ...['@handle', 'x @ y', 'a@', '2+2=4', 'C++', '50% off', 'jane'],
  ])('leaves %j, which is no contact, as it is', (text) => {
    expect(maskContacts(text)).toBe(text);
  });

  it.each([
    ['%40@example.com', '%***@e***.com'],
    ['jane%40@example.com', 'j***@e***.com'],
    ['jane%40.roe@example.com', 'j***@e***.com'],
    ['jane%40home.#.roe@example.com', 'j***@h***.***@e***.com'],
  ])('masks %s, whose local part has an @ as URLs write it, as %s', (address, shown) => {
    expect(maskContacts(`to ${address} now`)).toBe(`to ${shown} now`);
  });

  it('shows of no address more than first letters and the top-level domain', () => {
    // Those with an encoded @ in them stand above.
    const addresses = fc.emailAddress().filter((address) => !address.includes('%40'));
    fc.assert(
      fc.property(addresses, fc.lorem(), fc.lorem(), (address, before, after) => {
        const [local = '', domain = ''] = address.split('@');
        const shown = maskContacts(`${before} ${address} ${after}`);
        expect(shown.startsWith(`${before} `) && shown.endsWith(` ${after}`)).toBe(true);
        const middle = shown.slice(before.length + 1, -after.length - 1);
        expect(middle).toMatch(/^.?\*\*\*@.?\*\*\*(\.[A-Za-z]{2,6}|\.\*\*\*)$/u);
        // The top-level domain may be the same text as the local part: `av@a.av`.
        const [shownLocal = '', shownDomain = ''] = middle.split('@');
        // Stars of the address cannot be told from those of the mask: `a*@a.aa`.
        const letters = local.replaceAll('*', '');
        if (letters.length > 1) expect(shownLocal.replaceAll('*', '')).not.toContain(letters);
        expect(shownDomain).not.toContain(domain);
      }),
      { examples: [['a*@a.aa', 'to', 'now']] },
    );
  });

  it('changes nothing of masked contacts that stand apart', () => {
    const pieces = fc.constantFrom(
      'jane@example.com',
      '+49170123456',
      '0170 1234567',
      '@',
      '%40',
      '+',
      '0',
      '***',
      'a',
      ' ',
      '.',
      '-',
      '(',
    );
    fc.assert(
      fc.property(
        fc.array(pieces).map((parts) => parts.join(' ')),
        (text) => {
          expect(maskContacts(maskContacts(text))).toBe(maskContacts(text));
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('a long text', () => {
  const SMALL = { pieceCharacters: 12, pieceCharactersMax: Number.POSITIVE_INFINITY };

  it('is masked in pieces as it would be in one, wherever it can be cut', () => {
    const pieces = fc.constantFrom(
      ...[
        'jane.doe@example.com',
        '+49 170 1234567',
        '(0170) 12345-12',
        '212-555-1234',
        '0170',
        '12',
        'a%40b',
        '"',
        ':',
      ],
      ...[
        ' ',
        '  ',
        ', ',
        '. ',
        '\n',
        '\\n',
        'word',
        'A',
        '<',
        '>',
        '[',
        ';',
        '\\u0040',
        '@',
        '1.',
        '#',
        '…',
        'x@y.de, ',
      ],
    );
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join('')),
        (text) => {
          expect(runAtOnce(contactSteps(text, SMALL))).toBe(maskContacts(text));
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it('without a place to cut it is hidden, and what stands around it is not', () => {
    const run = 'x'.repeat(100_000);
    expect(maskContacts(`{"before":"b","blob":"${run}","after":"a"}`)).toBe('{"before":"b","blob":"***","after":"a"}');
    expect(maskContacts(run)).toBe('***');
    expect(maskContacts('x'.repeat(60_000))).toHaveLength(60_000);
  });

  /** Whatever a text repeats, the work doubles with its length, and no step of it is long. */
  const HOSTILE = [
    ...['1', '0', '0 ', '1.', '(12', '(', '+', '+1', '+   ', '0   ', '123-456-789 ', ' 0170 123456x', '٤', '٠ ', '+٤'],
    ...[
      '@',
      'a@',
      '.@',
      '@.',
      '%40',
      'a%40',
      '%40.',
      '\\u0040',
      'a@b',
      'a@-',
      '@@a',
      '.',
      '-',
      '--@',
      '\\',
      '\\n0',
      '😀',
    ],
    ...[
      'a',
      'A',
      'aB',
      'email ',
      'email:',
      'email"',
      '"email":"a",',
      'email:{',
      'email:[',
      'email:true ',
      'tel=1&',
      ' ',
    ],
    ...[
      'email\\\\"',
      '"value":"',
      'value:\\',
      "'email'",
      'e-mail',
      '_',
      '$',
      '﻿',
      '\u00a0',
      '\u2028',
      'x@y.de ',
      '000',
    ],
  ];

  it.each(HOSTILE)('of %j is masked in time that grows with it', (part) => {
    const text = (characters: number): string => part.repeat(Math.ceil(characters / part.length));
    const cpuMs = (work: () => unknown): number => {
      const startedAt = process.cpuUsage();
      work();
      return cpuMsSince(startedAt);
    };
    const works = [maskContacts, maskText, maskValue, (value: string) => maskProperties({ [value]: value }, new Set())];
    for (const work of works) {
      // What is longer than 64 KiB is not looked through in one go.
      const short = cpuMs(() => work(text(15 * 1024)));
      const long = cpuMs(() => work(text(60 * 1024)));
      // Four times as long; were it squared, sixteen times. What takes no time is not measured.
      expect(long).toBeLessThan(Math.max(300, 12 * short));
    }
  });
});
