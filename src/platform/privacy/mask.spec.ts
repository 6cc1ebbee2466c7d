import fc from 'fast-check';
import { MASKED_DEPTH_MAX, maskIdentityFields, maskProperties, propertySteps, withoutPersonalSteps } from './mask';
import { maskIdentity, maskText, maskValue } from './mask-text';
import { cpuMsSince } from '../../../test/support/cpu-time';
import { runAtOnce } from '../values/time-slice';

const NONE: ReadonlySet<string> = new Set();
const masked = (properties: unknown, ...piiNames: string[]): unknown => maskProperties(properties, new Set(piiNames));
const parse = (json: string): unknown => JSON.parse(json) as unknown;

describe('maskIdentity', () => {
  it('shows the forms of the contract', () => {
    expect(maskIdentity('EMAIL', 'jane.doe@example.com')).toBe('j***@e***.com');
    expect(maskIdentity('PHONE', '+491701234512')).toBe('+49*******12');
    expect(maskIdentity('EXTERNAL', 'ab-12345')).toBe('ab***');
    expect(maskIdentity('DEVICE', 'ab-12345')).toBe('ab***');
  });

  it('shows nothing of what three or fewer characters say', () => {
    for (const value of ['', 'a', 'ab', 'abc', '😀😀😀']) expect(maskIdentity('EXTERNAL', value)).toBe('***');
    expect(maskIdentity('EXTERNAL', '😀😀😀😀')).toBe('😀😀***');
    expect(maskIdentity('EMAIL', 'a@b.de')).toBe('***@***.de');
    expect(maskIdentity('EMAIL', 'ab@localhost')).toBe('a***@l***');
    expect(maskIdentity('EMAIL', 'ab@b.long-company-name')).toBe('a***@***.***');
    expect(maskIdentity('PHONE', '+2901234')).toBe('***');
  });

  it('is as long for a long value as for a short one', () => {
    expect(maskIdentity('PHONE', '+49170123456789')).toHaveLength(maskIdentity('PHONE', '+491701234').length);
    expect(maskIdentity('DEVICE', 'x'.repeat(256))).toBe('xx***');
  });
});

describe('maskValue', () => {
  it('finds the form for itself', () => {
    expect(maskValue(' jane@example.com ')).toBe('j***@e***.com');
    expect(maskValue('+49 170 1234512')).toBe('+49*******12');
    expect(maskValue('(0170) 12345-12')).toBe('01*******12');
    expect(maskValue('Main Street 1, jane@example.com')).toBe('Ma***');
  });

  it('shows nothing of anything but text', () => {
    for (const value of [12_345, true, null, undefined, ['abcdef'], { a: 'abcdef' }])
      expect(maskValue(value)).toBe('***');
  });

  it('changes nothing of what is masked', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.emailAddress(), fc.stringMatching(/^\+\d{5,15}$/)),
        (text) => {
          expect(maskValue(maskValue(text))).toBe(maskValue(text));
        },
      ),
    );
  });
});

describe('maskIdentityFields', () => {
  it('masks the identity of both families and shows its kind', () => {
    expect(maskIdentityFields({ type: 'Email', value: 'jane@example.com' })).toEqual({
      type: 'Email',
      value: 'j***@e***.com',
    });
    expect(maskIdentityFields({ type: 'jane-doe', value: 'x' })).toEqual({ type: 'ja***', value: '***' });
    expect(maskIdentityFields({ externalUserId: 'cust-1', phone: '+49 170 1234512' })).toEqual({
      externalUserId: 'cu***',
      phone: '+49*******12',
    });
  });
});

describe('maskProperties', () => {
  it('masks registered properties whole, whatever they are and however deep', () => {
    const properties = {
      secret: 'hello',
      a: { secret: 17 },
      b: [{ secret: { c: 1 } }, { secret: [1] }, { secret: true }, { secret: null }],
    };
    expect(masked(properties, 'secret')).toEqual({
      secret: 'he***',
      a: { secret: '***' },
      b: [{ secret: '***' }, { secret: '***' }, { secret: '***' }, { secret: null }],
    });
  });

  it.each([
    ...[
      'email',
      'Email',
      'EMAIL',
      'e-mail',
      'e_mail',
      'eMail',
      'userEmail',
      'EMAILAddress',
      'user_email_2',
      'useremail',
      'mail',
    ],
    ...[
      'phone',
      'phoneNumber',
      'phonenumber',
      'mobile_phone',
      'WORKPHONE',
      'mobile',
      'tel',
      'contact',
      'contact-person',
      'fax',
    ],
    ...['externalUserId', 'external_user_id', 'deviceKey', 'device-key'],
  ])('masks a property called %s', (name) => {
    const properties = Object.fromEntries([[name, 'abcdef']]);
    expect(Object.values(masked(properties) as object)).toEqual(['ab***']);
    expect(Object.values(masked({ [name]: 4_917_012 }) as object)).toEqual(['***']);
    expect(Object.values(masked({ [name]: { a: 1 } }) as object)).toEqual(['***']);
    expect(Object.values(masked({ [name]: true }) as object)).toEqual([true]);
  });

  it.each([
    ...[
      'amount',
      'orderId',
      'headphones',
      'microphone',
      'smartphone',
      'hotel',
      'telescope',
      'cellar',
      'contract',
      'excellent',
    ],
    ...['detail', 'mailing', 'timestamp', 'campaign', 'html', 'intellect'],
  ])('leaves a property called %s', (name) => {
    expect(masked({ [name]: 'abcdef' })).toEqual({ [name]: 'abcdef' });
  });

  it('leaves amounts, ids, dates and the shape as they are', () => {
    const properties = {
      amount: 12.5,
      id: 1234567890,
      list: [1, 'two', null, true, { three: [] }],
      at: '2026-01-02T03:04:05Z',
      o: {},
    };
    expect(masked(properties)).toEqual(properties);
  });

  it('masks contacts inside any text', () => {
    expect(masked({ note: ['ask jane@example.com', { or: 'call +49 170 1234512' }] })).toEqual({
      note: ['ask j***@e***.com', { or: 'call +49*******12' }],
    });
    expect(masked('jane@example.com')).toBe('j***@e***.com');
  });

  it('masks names that are contacts, and keeps both of two that then look the same', () => {
    const properties = { 'jane@example.com': 1, 'john@example.com': 2, 'j***@e***.com': 3, 'j***@e***.com (2)': 4 };
    const shown = masked(properties) as object;
    expect(Object.values(shown)).toEqual([1, 2, 3, 4]);
    expect(Object.keys(shown).every((name) => name.startsWith('j***@e***.com'))).toBe(true);
  });

  it('keeps 20,000 names that look the same apart in little time', () => {
    const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`j${n}@example.com`, n]));
    const started = process.cpuUsage();
    expect(Object.values(masked(properties) as object)).toEqual(Object.values(properties));
    expect(cpuMsSince(started)).toBeLessThan(2_000);
  });

  it('masks everything below an identity but its kind', () => {
    const payload = {
      source: 'shop',
      identity: { type: 'EMAIL', value: 'jane', n: 5, more: { x: ['abcdef'] } },
      Identity: 'abcdef',
    };
    expect(masked(payload)).toEqual({
      source: 'shop',
      identity: { type: 'EMAIL', value: 'ja***', n: '***', more: { x: ['ab***'] } },
      Identity: 'ab***',
    });
  });

  it('takes __proto__ and constructor for names like any other', () => {
    const shown = masked(parse('{"__proto__": {"email": "jane@example.com"}, "constructor": "x", "toString": 1}'));
    expect(JSON.stringify(shown)).toBe('{"__proto__":{"email":"j***@e***.com"},"constructor":"x","toString":1}');
    expect(Object.getPrototypeOf(shown)).toBeNull();
    expect(({} as Record<string, unknown>)['email']).toBeUndefined();
  });

  it('cuts what is nested deeper than 32, and never runs out of stack', () => {
    const nest = (depth: number): unknown =>
      parse(`${'[{"a":'.repeat(depth / 2)}"jane@example.com"${'}]'.repeat(depth / 2)}`);
    expect(JSON.stringify(masked(nest(MASKED_DEPTH_MAX)))).toContain('"j***@e***.com"');
    for (const depth of [MASKED_DEPTH_MAX + 2, 20_000]) {
      expect(JSON.stringify(masked(nest(depth)))).toBe(`${'[{"a":'.repeat(16)}"…"${'}]'.repeat(16)}`);
    }
  });

  it('never changes what it was given', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const before = JSON.stringify(value);
        maskProperties(value, NONE);
        expect(JSON.stringify(value)).toBe(before);
      }),
    );
  });
});

const withoutPersonal = (properties: unknown, piiNames: ReadonlySet<string>): unknown =>
  runAtOnce(withoutPersonalSteps(properties, piiNames));

describe('withoutPersonalSteps', () => {
  it('leaves out what a view masks, names and all, and keeps the rest', () => {
    const address = { city: 'Ulm', contacts: ['x'], list: ['a', 'jane@example.com', { nick: 'J', __proto: 1 }] };
    const properties = { amount: 1, nick: 'J', userEmail: null, note: 'call +49 170 1234567', 'a@b.de': 1, address };
    expect(withoutPersonal(properties, new Set(['nick']))).toEqual({
      amount: 1,
      address: { city: 'Ulm', list: ['a', { __proto: 1 }] },
    });
  });

  it('leaves nothing that a view would mask', () => {
    const text = fc.oneof(
      fc.string(),
      fc.emailAddress(),
      fc.constantFrom('email', 'identity', 'nick', '__proto__', 'a'),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 5 }, text, fc.integer(), fc.array(tie('tree')), fc.dictionary(text, tie('tree'))),
    }));
    const piiNames = new Set(['nick']);
    fc.assert(
      fc.property(fc.dictionary(text, tree), (properties) => {
        const left = withoutPersonal(properties, piiNames);
        expect(JSON.stringify(maskProperties(left, piiNames))).toBe(JSON.stringify(left));
      }),
    );
  });

  it('keeps nothing that is deeper than a view shows, and never runs out of stack', () => {
    const nested: unknown = JSON.parse(`${'{"a":'.repeat(20_000)}"x"${'}'.repeat(20_000)}`);
    expect(JSON.stringify(withoutPersonal(nested, new Set()))).toBe(
      `${'{"a":'.repeat(MASKED_DEPTH_MAX)}{}${'}'.repeat(MASKED_DEPTH_MAX)}`,
    );
  });

  it('looks through long texts and names in steps, as masking does, each a small part of the work', () => {
    const long = 'a@b '.repeat(60_000);
    for (const properties of [{ t: long }, { [long]: 1 }]) {
      for (const steps of [withoutPersonalSteps(properties, NONE), propertySteps(properties, NONE)]) {
        let count = 0;
        while (steps.next().done !== true) count += 1;
        expect(count).toBeGreaterThan(10);
      }
    }
  });
});

describe('masking', () => {
  it('takes time in proportion to the text, however hostile', () => {
    const pieces = [
      'a',
      '@',
      '%40',
      '+',
      '0',
      '(',
      ' ',
      '-',
      '.',
      '"',
      '\\',
      '{',
      ':',
      '=',
      '٤',
      '\ud800',
      'Aa',
      'email:"',
      'identity":[',
    ];
    const slow: string[] = [];
    for (const one of pieces) {
      for (const two of pieces) {
        // Each alone, and both in turn.
        const text = [one, `${one}${two}`, two].map((piece) => piece.repeat(3_000 / piece.length)).join('');
        const started = process.cpuUsage();
        for (const hostile of [text, `email: "${text}`]) {
          maskText(hostile);
          maskValue(hostile);
          masked({ [hostile]: hostile });
        }
        if (cpuMsSince(started) > 200) slow.push(`${one}${two}`);
      }
    }
    expect(slow).toEqual([]);
  });
});
