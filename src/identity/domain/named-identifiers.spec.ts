import { identityRules } from './identifier';
import { identifierFinder, identifiersIn, identityOfKinds, identityWithoutKinds } from './named-identifiers';

const IN_GERMANY = identityRules('DE', []);
const JANE = [
  { kind: 'EXTERNAL', value: 'c-1' },
  { kind: 'EMAIL', value: 'jane@example.com' },
  { kind: 'PHONE', value: '+491701234567' },
  { kind: 'PHONE', value: '+16502530000' },
  { kind: 'DEVICE', value: 'Tablet 7' },
] as const;

describe('identifierFinder', () => {
  const foundIn = (identity: Record<string, string>, rules = IN_GERMANY): string[] =>
    identifierFinder(JANE, rules)(identity).map(({ kind, value }) => `${kind} ${value}`);

  it.each([
    [{ externalUserId: ' c-1\u200b' }, ['EXTERNAL c-1']],
    [{ externalUserId: 'C-1' }, []],
    [{ email: ' Jane@EXAMPLE.com ' }, ['EMAIL jane@example.com']],
    [{ email: 'mary.jane@example.com' }, []],
    [{ phone: '0170 / 123-4567' }, ['PHONE +491701234567']],
    [{ phone: '+49 (0)170 1234567' }, ['PHONE +491701234567']],
    [{ phone: '0170 1234568' }, []],
    [{ deviceKey: 'Tablet 7' }, ['DEVICE Tablet 7']],
    [{ deviceKey: 'c-1', externalUserId: 'Tablet 7' }, []],
    [{ email: 'jane@example.com', phone: 'none', deviceKey: 'other' }, ['EMAIL jane@example.com']],
    [{}, []],
  ])('finds in %j what is the person’s: %j', (identity, expected) => {
    expect(foundIn(identity)).toEqual(expected);
  });

  it('finds phone numbers that were stored under another region, or before there was none', () => {
    for (const rules of [identityRules(undefined, []), identityRules('AT', []), identityRules('US', [])]) {
      for (const phone of ['0170 1234567', '0049 170 1234567', '４９１７０１２３４５６７']) {
        expect(foundIn({ phone }, rules)).toEqual(['PHONE +491701234567']);
      }
      expect(foundIn({ phone: '1 650 253 0000' }, rules)).toEqual(['PHONE +16502530000']);
      expect(foundIn({ phone: '(650) 253-0000' }, rules)).toEqual(['PHONE +16502530000']);
    }
  });

  it('finds values that have become placeholders since', () => {
    expect(foundIn({ deviceKey: 'Tablet 7' }, identityRules('DE', ['tablet 7']))).toEqual(['DEVICE Tablet 7']);
  });
});

it('an identity is divided by kinds', () => {
  const identity = { externalUserId: 'c-2', email: 'jane@example.com', deviceKey: 'Tablet 7' };
  expect(identityOfKinds(identity, ['EMAIL', 'PHONE'])).toEqual({ email: 'jane@example.com' });
  expect(identityWithoutKinds(identity, ['EMAIL', 'PHONE'])).toEqual({ externalUserId: 'c-2', deviceKey: 'Tablet 7' });
});

describe('identifiersIn', () => {
  it.each<[unknown, string[]]>([
    [{ type: 'email', value: ' Jane@EXAMPLE.com ' }, ['EMAIL jane@example.com']],
    [
      { type: 'FAX', value: 'Jane@EXAMPLE.com' },
      ['EXTERNAL Jane@EXAMPLE.com', 'EMAIL jane@example.com', 'DEVICE Jane@EXAMPLE.com'],
    ],
    [{ value: 4711 }, ['EXTERNAL 4711', 'DEVICE 4711']],
    [{ type: 'PHONE', value: 491701234567 }, ['PHONE +491701234567']],
    [
      { externalUserId: 'null', email: 'no address', phone: '0170 1234567', deviceKey: ['x'] },
      ['EXTERNAL null', 'PHONE +491701234567'],
    ],
    [{ email: 'jane@example.com', type: 'DEVICE', value: 'd-1' }, ['EMAIL jane@example.com', 'DEVICE d-1']],
    ...[undefined, null, 'jane@example.com', [], {}].map((identity): [unknown, string[]] => [identity, []]),
  ])('finds in %j, whatever is wrong with it: %j', (identity, expected) => {
    expect(identifiersIn(identity, IN_GERMANY).map(({ kind, value }) => `${kind} ${value}`)).toEqual(expected);
  });
});
