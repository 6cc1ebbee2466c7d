import fc from 'fast-check';
import { looksMasked, maskText, maskValue } from './mask-text';

describe('maskText', () => {
  it.each([
    ['{"email": "jane", "amount": 5', '{"email": "ja***", "amount": 5'],
    ["{'e-mail': 'jane', amount: 5}", "{'e-mail': 'ja***', amount: 5}"],
    ['{"email" "jane"}', '{"email" "ja***"}'],
    ['{email: jane doe, amount: 5}', '{email: ja***, amount: 5}'],
    ['email=jane&amount=5', 'email=ja***&amount=5'],
    ['a=1&identity[deviceKey]=jane&b=2', 'a=1&identity[deviceKey]=ja***&b=2'],
    ['a=1&identity%5Bvalue%5D=jane&b%5Bc%5D=2', 'a=1&identity%5Bvalue%5D=ja***&b%5Bc%5D=2'],
    ['{"phone": 4917012}', '{"phone": ***}'],
    ['{"phone": +49 170 1234512, "a": 1}', '{"phone": +49*******12, "a": 1}'],
    ['{"emailVerified": true, "email": null}', '{"emailVerified": true, "email": null}'],
    ['{"identity": {"type": "EMAIL", "value": "a}b"}, "amount": 5}', '{"identity": ***, "amount": 5}'],
    ['{"identity": {"value": "a\\"}b"}, "amount": 5}', '{"identity": ***, "amount": 5}'],
    ['{"contacts": ["jane", ["joe"]], "amount": 5}', '{"contacts": ***, "amount": 5}'],
    ['{"identity": {"value": "jane"', '{"identity": ***'],
    [
      '{"note": "{\\"deviceKey\\": \\"ja\\\\\\"ne\\", \\"n\\": 1}"}',
      '{"note": "{\\"deviceKey\\": \\"ja***\\", \\"n\\": 1}"}',
    ],
    ['{"value": "ja\\"ne", "amount": 5}', '{"value": "ja***", "amount": 5}'],
    ['{"value": "jane\\\\", "amount": 5}', '{"value": "ja***\\\\", "amount": 5}'],
    ['{"value": "jane', '{"value": "ja***'],
    ['{"firstName": "Jane", "password": "hunter2"}', '{"firstName": "Ja***", "password": "hu***"}'],
    ['{"note": "ask jane@example.com or +49 170 1234512"', '{"note": "ask j***@e***.com or +49*******12"'],
  ])('makes of %s', (text, expected) => {
    expect(maskText(text)).toBe(expected);
  });

  it.each([
    '{"source": "shop", "type": "order", "attributes": {"amount": 12.5, "at": "2026-01-02T03:04:05Z"}',
    '{"channel": "email", "amount": 5}',
    '["email", "phone"]',
    'by email or phone',
    '',
    '\u0000\ud800',
  ])('leaves %j as it is', (text) => {
    expect(maskText(text)).toBe(text);
  });

  // The values look like nothing in particular, so that only their names tell.
  const secret = fc.stringMatching(/^[A-Z]{3}[a-z]{9}$/);
  const body = fc.record({ a: secret, b: secret, c: secret, d: secret }).map(({ a, b, c, d }) => ({
    secrets: [a, b, c, d],
    json: JSON.stringify({
      source: 'shop',
      amount: 5,
      identity: { type: 'EXTERNAL', value: a, email: b },
      properties: { contactName: c, list: [1, 'two'], phone: d, note: 'x' },
    }),
  }));

  it('hides every identity value of a body that lacks one quote, colon, comma or bracket, or its end', () => {
    fc.assert(
      fc.property(body, fc.nat(), fc.boolean(), ({ secrets, json }, position, isCut) => {
        const structural = Array.from(json.matchAll(/["{}[\]:,]/g), ({ index }) => index);
        const at = structural[position % structural.length] ?? 0;
        const broken = isCut ? json.slice(0, position % json.length) : json.slice(0, at) + json.slice(at + 1);
        const shown = maskText(broken);
        // Six letters of a secret are enough to recognise it.
        for (const each of secrets) expect(shown).not.toContain(each.slice(0, 6));
      }),
      { numRuns: 3_000 },
    );
  });

  it('changes nothing of what is masked', () => {
    fc.assert(
      fc.property(body, ({ json }) => {
        expect(maskText(maskText(json))).toBe(maskText(json));
      }),
    );
  });
});

describe('looksMasked', () => {
  it.each([
    'a',
    'anna',
    'customer-77',
    'anna@example.com',
    'a@b',
    '+49 170 1234512',
    '0170 1234512',
    '😀😀😀😀',
    'a\nbc',
  ])('knows the mask of %j, and not the value', (value) => {
    expect([looksMasked(maskValue(value)), looksMasked(value)]).toEqual([true, false]);
  });

  it('knows masks of contact data within a text', () => {
    expect(looksMasked(maskText('ask jane@example.com'))).toBe(true);
    expect(looksMasked(maskText('call +49 170 1234512 now'))).toBe(true);
  });

  it.each(['', '**', '****1234', '**** **** **** 1234', 'stars: *** and ****', '*** important ***'])(
    'takes %j for no mask',
    (text) => {
      expect(looksMasked(text)).toBe(false);
    },
  );
});
