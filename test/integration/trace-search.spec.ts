import fc from 'fast-check';
import { tracesOf } from '../../src/identity/domain/traces';
import { TraceSearch } from '../../src/platform/privacy/trace-search';

const person = new TraceSearch(
  tracesOf([
    { kind: 'EXTERNAL', value: 'Cust-7/a' },
    { kind: 'EXTERNAL', value: '4711' },
    { kind: 'EXTERNAL', value: '2026100042' },
    { kind: 'EXTERNAL', value: 'Zoë "Z" 😀' },
    { kind: 'EXTERNAL', value: 'back\\slash' },
    { kind: 'EMAIL', value: 'jane@example.com' },
    { kind: 'EMAIL', value: 'zoë@example.com' },
    { kind: 'EMAIL', value: 'jane+tag@example.com' },
    { kind: 'PHONE', value: '+4917612345678' },
    { kind: 'DEVICE', value: 'dev_1' },
  ]),
);

/** Every character as its escape. */
const escaped = (text: string, prefix = '\\u'): string =>
  text
    .split('')
    .map((unit) => prefix + unit.charCodeAt(0).toString(16).padStart(4, '0'))
    .join('');

/** Every byte as forms and URLs write it. */
const percentEncoded = (text: string): string =>
  Buffer.from(text)
    .toString('hex')
    .replace(/../g, (byte) => `%${byte}`);

describe('a person is found in refused text', () => {
  it.each([
    ['a quoted value', '{"identity":{"type":"EXTERNAL","value":"Cust-7/a"}}'],
    ['a value with white space beside it', '{"value" : "  Cust-7/a\t"}'],
    ['a value whose slash is escaped', '{"value":"Cust-7\\/a"}'],
    ['a value that is escaped as a whole', `{"value":"${escaped('Cust-7/a')}"}`],
    ['capital letters in escapes', `{"value":"${escaped('dev_1').toUpperCase().replaceAll('U', 'u')}"}`],
    ['quotes and letters beyond ASCII', JSON.stringify({ value: 'Zoë "Z" 😀' })],
    ['the same, escaped', '{"value":"Zo\\u00eb \\"Z\\" \\uD83D\\uDE00"}'],
    ['a backslash', JSON.stringify({ value: 'back\\slash' })],
    ['JSON inside a string of JSON', JSON.stringify({ body: JSON.stringify({ value: 'Cust-7/a' }) })],
    ['the same twice', JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ value: 'dev_1' }) }) })],
    ['quotes of another kind', "{'value': 'Cust-7/a'}"],
    ['a bare value whose name says what it is', '{externalUserId: Cust-7/a, '],
    ['a bare value of a form', 'type=EXTERNAL&value=dev_1&x=1'],
    ['a bare value of a form with brackets', 'x=1&identity[externalUserId]=Cust-7/a'],
    ['the same with encoded brackets', 'x=1&identity%5BdeviceKey%5D=dev_1&y=2'],
    ['a value in UTF-16', [...'{"value":"Cust-7/a"}'].map((letter) => `${letter}\\u0000`).join('')],
    ['an address in UTF-16', [...'{"note":"to jane@example.com"}'].map((letter) => `\\u0000${letter}`).join('')],
    ['a short number whose name says what it is', '{"identity":{"type":"EXTERNAL","value":4711}}'],
    ['the same with another name', '{"user_id" : 4711 }'],
    ['the same inside a string', '"{\\"externalUserId\\": 4711}"'],
    ['a short number with a fraction', '{"value":4711.0}'],
    ['a long number under any name', '{"ref":2026100042}'],
    ['a long number in a list', '[1,2026100042,3]'],
    ['a long number with an exponent', '{"x":2.026100042e9}'],
    ['an address in any case, anywhere', '{"note":"mail to JANE@example.COM please"}'],
    ['an address whose @ is escaped', '{"value":"jane\\u0040example.com"}'],
    ['an address that is escaped as a whole', `{"value":"${escaped('Jane@Example.com')}"`],
    ['the same in JSON inside JSON', `{"value":"${escaped('jane@example.com', '\\\\u')}"`],
    ['an address of a URL', 'email=jane%40example.com'],
    ['an address of a form in letters beyond ASCII', 'a=1&email=ZO%C3%AB%40example.com&b=2'],
    ['an address with a tag in a form', 'email=jane%2Btag%40example.com'],
    ['an address each of whose letters is encoded', `email=${percentEncoded('jane@example.com')}`],
    ['a value of a form with a slash', 'x=100%25&externalUserId=Cust-7%2Fa&y=2'],
    ['a value of a form with quotes and spaces', 'value=Zo%C3%AB+%22Z%22+%F0%9F%98%80'],
    ['a phone number of a form', 'phone=%2B49+176+12345678'],
    ['a form inside a string of JSON', JSON.stringify({ body: 'x=1&deviceKey=dev%5F1' })],
    ['an address beside broken bytes', 'x=%ff%C3&note=%ff%40+jane%40example.com'],
    ['an address in letters beyond ASCII', '{"value":"ZO\\u00cb@example.com"}'],
    ['a phone number as text', '{"value":"+49 176 / 1234-5678"}'],
    ['a phone number as it is dialled', '{"value":"0176 12345678"}'],
    ['a phone number as a number', '{"identity":{"type":"PHONE","value": 4917612345678}}'],
    [
      'a phone number with all that may stand between its digits',
      '{"value":"+49~[176]\u2212123\u200b4\uff0d5\uff0f678"}',
    ],
    ['a phone number in full-width digits', '{"value":"\uff0b\uff14\uff19\uff11\uff17\uff16 12345678"}'],
    [
      'a phone number in Arabic digits',
      '{"value":"\u0660\u0661\u0667\u0666 \u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668"}',
    ],
    [
      'a phone number in Persian digits',
      '{"value":"+\u06f4\u06f9 \u06f1\u06f7\u06f6 \u06f1\u06f2\u06f3\u06f4\u06f5\u06f6\u06f7\u06f8"}',
    ],
    ['a value with invisible characters beside it', '{"value":"\u200bCust-7/a\u2060\u0085"}'],
    ['a phone number with an exponent', '{"value": 4.917612345678e12}'],
    ['a phone number whose digits are escaped', `{"value":"${escaped('17612345678')}"}`],
  ])('with %s', (_what, text) => {
    expect(person.isNamedIn(text)).toBe(true);
  });

  it.each([
    ['another value that begins like it', '{"value":"Cust-7/ab"}'],
    ['the same in another case', '{"value":"CUST-7/A"}'],
    ['a part of a text', '{"note":"see dev_1 for more"}'],
    ['a short number that is an amount', '{"amount":4711,"list":[4711],"price":"4.711"}'],
    ['a number that contains it', '{"value":14711,"userId":47110,"value":"4711x"}'],
    ['another address', '{"value":"mary@example.com"}'],
    ['another value of a form', 'externalUserId=Cust-7%2Fab&value=%64%65v_12'],
    ['nothing', ''],
  ])('and nobody with %s', (_what, text) => {
    expect(person.isNamedIn(text)).toBe(false);
  });

  it('with any value that JSON can write, whatever else is there', () => {
    const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((text) => text.trim() === text);
    fc.assert(
      fc.property(value, fc.jsonValue(), (text, other) => {
        const search = new TraceSearch(tracesOf([{ kind: 'EXTERNAL', value: text }]));
        expect(search.isNamedIn(JSON.stringify({ other, identity: { value: text } }))).toBe(true);
        expect(search.isNamedIn(JSON.stringify([JSON.stringify({ text }), other]))).toBe(true);
      }),
      {
        numRuns: 300,
        examples: [
          ['!\\!', {}],
          ['a\\nb', {}],
          ['a"\\\\b', {}],
        ],
      },
    );
  });

  it('in linear time, whatever the text is made of', () => {
    const size = 256 * 1024;
    const hostile = [
      ' ',
      '\\',
      '"',
      '\\u0040',
      '\\"',
      '%',
      '%4',
      '%ff',
      '%40',
      '+',
      '4',
      '4.',
      'C',
      ' 4',
      '"value":',
      '1e',
      'a@',
      'dev_1',
      '\t"',
      '=',
    ];
    for (const piece of hostile) {
      const text = piece.repeat(size / piece.length);
      const { user } = process.cpuUsage();
      person.isNamedIn(text);
      // Some milliseconds; what is quadratic takes minutes.
      expect(process.cpuUsage().user - user).toBeLessThan(2_000_000);
    }
  });
});
