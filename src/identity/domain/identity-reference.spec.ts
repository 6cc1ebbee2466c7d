import { identityRules } from './identifier';
import { parseCdpIdentity, parseIdentityReference, type ParsedIdentity } from './identity-reference';

const RULES = identityRules(undefined, []);
const faults = (parsed: ParsedIdentity): string[] =>
  'faults' in parsed ? parsed.faults.map(({ path, code }) => `${path} ${code}`) : ['none'];

describe('the identity of an external event', () => {
  it.each([
    ['EXTERNAL', 'EXTERNAL'],
    ['external_user_id', 'EXTERNAL'],
    ['External_User_Id', 'EXTERNAL'],
    ['device', 'DEVICE'],
    ['DEVICE_KEY', 'DEVICE'],
  ])('with type %s has an identifier of kind %s', (type, kind) => {
    expect(parseIdentityReference({ type, value: ' Ab-1 ' }, RULES)).toEqual({
      identifiers: [{ kind, value: 'Ab-1' }],
    });
  });

  it('is normalised by its type', () => {
    expect(parseIdentityReference({ type: 'eMail', value: ' A@B.de' }, RULES)).toEqual({
      identifiers: [{ kind: 'EMAIL', value: 'a@b.de' }],
    });
    expect(parseIdentityReference({ type: 'phone', value: '+49 170 1234567' }, RULES)).toEqual({
      identifiers: [{ kind: 'PHONE', value: '+491701234567' }],
    });
  });

  it('lists every fault, not only the first', () => {
    expect(faults(parseIdentityReference({}, RULES))).toEqual(['identity.type required', 'identity.value required']);
    expect(faults(parseIdentityReference({ type: null, value: null }, RULES))).toEqual([
      'identity.type required',
      'identity.value required',
    ]);
    expect(faults(parseIdentityReference({ value: 'N/A' }, RULES))).toEqual([
      'identity.type required',
      'identity.value placeholder_identity',
    ]);
    expect(faults(parseIdentityReference({ type: 'cookie', value: '' }, RULES))).toEqual([
      'identity.type enum',
      'identity.value placeholder_identity',
    ]);
    expect(faults(parseIdentityReference({ type: 'email', value: 'jane' }, RULES))).toEqual(['identity.value format']);
    expect(faults(parseIdentityReference({ type: 'cookie', value: 'abc' }, RULES))).toEqual(['identity.type enum']);
  });

  it.each(['', ' EMAIL', 'emaıl', 'EMAİL', 'e-mail', '__proto__', 'constructor'])(
    'does not take %j for a type',
    (type) => {
      expect(faults(parseIdentityReference({ type, value: 'a@b.de' }, RULES))).toEqual(['identity.type enum']);
    },
  );

  it('names identity.type in the message when it is missing', () => {
    const parsed = parseIdentityReference({ value: 'x' }, RULES);
    expect('faults' in parsed && parsed.faults[0]?.message).toContain('identity.type');
  });
});

describe('the identity of a CDP event', () => {
  it('has its identifiers in order of strength, in whatever order they were sent', () => {
    const identity = { deviceKey: 'd', phone: '+49 170 1234567', email: 'A@b.de', externalUserId: 'X' };
    expect(parseCdpIdentity(identity, RULES)).toEqual({
      identifiers: [
        { kind: 'EXTERNAL', value: 'X' },
        { kind: 'EMAIL', value: 'a@b.de' },
        { kind: 'PHONE', value: '+491701234567' },
        { kind: 'DEVICE', value: 'd' },
      ],
    });
  });

  it('treats null as absent', () => {
    expect(parseCdpIdentity({ email: 'a@b.de', phone: null, deviceKey: null }, RULES)).toEqual({
      identifiers: [{ kind: 'EMAIL', value: 'a@b.de' }],
    });
  });

  it('needs an identifier, and the fault names the fields', () => {
    for (const identity of [{}, { email: null }]) {
      const parsed = parseCdpIdentity(identity, RULES);
      expect(faults(parsed)).toEqual(['identity identity_required']);
      expect('faults' in parsed && parsed.faults[0]?.message).toMatch(/externalUserId.*email.*phone.*deviceKey/);
    }
  });

  it('lists the fault of every field, and is invalid with one faulty field', () => {
    expect(faults(parseCdpIdentity({ externalUserId: '', email: 'x', phone: '12', deviceKey: 'fine' }, RULES))).toEqual(
      ['identity.externalUserId placeholder_identity', 'identity.email format', 'identity.phone invalid_phone'],
    );
  });
});
