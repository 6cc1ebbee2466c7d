import { generateKeyPairSync } from 'node:crypto';
import { issuerFaults } from './issuer-definition';

const POLICY = { allowPrivate: false, canSeal: true };
const JWKS_URI = 'https://login.example.com/jwks';
const SECRET = 'a shared secret of 32 characters';
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });

const faultsOf = (fields: object, policy: Partial<typeof POLICY> = {}): string[] =>
  issuerFaults({ issuer: 'i', audience: 'a', ...fields }, { ...POLICY, ...policy }).map(
    ({ path, code }) => `${path} ${code}`,
  );

describe('issuerFaults', () => {
  it.each([
    ['an address', { jwksUri: JWKS_URI }],
    ['keys', { jwks: { keys: [ec, rsa] } }],
    ['keys with fields of their own', { jwks: { keys: [{ ...ec, x5t: 'abc', note: { any: 1 } }], note: 'mine' } }],
    ['a secret', { secret: SECRET }],
    ['a secret of 1,024 bytes', { secret: 'é'.repeat(512) }],
    ['a secret of 8 characters and 32 bytes', { secret: '🎉'.repeat(8) }],
    ['a secret and its only algorithm', { secret: SECRET, algorithms: ['HS256'] }],
    ['one algorithm and keys for it', { algorithms: ['PS256'], jwks: { keys: [{ ...rsa, alg: 'PS256' }] } }],
    [
      'null in the other places',
      { jwksUri: JWKS_URI, jwks: null, secret: null, algorithms: null, allowedCampaignIds: null },
    ],
    [
      'a default campaign that is allowed',
      { jwksUri: JWKS_URI, defaultCampaignId: 'a', allowedCampaignIds: ['b', 'a'] },
    ],
    ['a default campaign where all are allowed', { jwksUri: JWKS_URI, defaultCampaignId: 'a' }],
    ['names of 1,300 bytes', { jwksUri: JWKS_URI, issuer: 'é'.repeat(650), audience: '🎉'.repeat(325) }],
  ])('has nothing against %s', (_what, fields) => {
    expect(faultsOf(fields)).toEqual([]);
  });

  it.each([
    ['no source of keys', {}, [' required']],
    ['two sources', { jwksUri: JWKS_URI, secret: SECRET }, ['secret conflicting_fields']],
    [
      'three sources',
      { jwksUri: JWKS_URI, jwks: { keys: [ec] }, secret: SECRET },
      ['jwks conflicting_fields', 'secret conflicting_fields'],
    ],
    ['HS256 with keys', { jwks: { keys: [rsa] }, algorithms: ['RS256', 'HS256'] }, ['algorithms[1] enum']],
    ['HS256 with an address', { jwksUri: JWKS_URI, algorithms: ['HS256'] }, ['algorithms[0] enum']],
    ['RS256 with a secret', { secret: SECRET, algorithms: ['HS256', 'RS256'] }, ['algorithms[1] enum']],
    [
      'HS256 beside RS256 and no source',
      { algorithms: ['HS256', 'RS256'] },
      [' required', 'algorithms conflicting_fields'],
    ],
    ['a private address', { jwksUri: 'https://127.0.0.1/jwks' }, ['jwksUri format']],
    ['a key for no algorithm', { jwks: { keys: [rsa, ec] }, algorithms: ['ES256'] }, ['jwks.keys[0] format']],
    [
      'a key of another algorithm',
      { jwks: { keys: [{ ...rsa, alg: 'RS256' }] }, algorithms: ['PS256'] },
      ['jwks.keys[0] format'],
    ],
    ['no key', { jwks: { keys: [] } }, ['jwks.keys too_few_items']],
    ['too much text', { jwks: { keys: [ec], note: 'x'.repeat(64 * 1024) } }, ['jwks too_large']],
    ['a secret of 31 bytes', { secret: SECRET.slice(1) }, ['secret too_short']],
    ['a secret of 1,025 bytes', { secret: `${'é'.repeat(512)}x` }, ['secret too_long']],
    [
      'a default campaign that is not allowed',
      { jwksUri: JWKS_URI, defaultCampaignId: 'a', allowedCampaignIds: ['A'] },
      ['defaultCampaignId enum'],
    ],
    [
      'names of more than 1,300 bytes',
      { jwksUri: JWKS_URI, issuer: '🎉'.repeat(326), audience: '🎉'.repeat(326) },
      ['issuer too_long', 'audience too_long'],
    ],
  ])('refuses %s', (_what, fields, faults) => {
    expect(faultsOf(fields)).toEqual(faults);
  });

  it('refuses a key set that is nested 20,000 deep without recursion', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`) as object;
    expect(faultsOf({ jwks: deep })).toEqual(['jwks too_large']);
  });

  it('passes over fields whose type is wrong, which their shape says already', () => {
    const fields = { jwksUri: 7, algorithms: 'RS256', defaultCampaignId: ['a'], allowedCampaignIds: 'a', issuer: {} };
    expect(faultsOf(fields)).toEqual([]);
    expect(faultsOf({ secret: [SECRET] }, { canSeal: false })).toEqual([]);
    expect(faultsOf({ jwksUri: JWKS_URI, algorithms: ['none', 7] })).toEqual([]);
  });

  it('has nowhere to keep a secret without SECRETS_KEY, and says what to do', () => {
    const [fault, ...others] = issuerFaults({ secret: SECRET }, { ...POLICY, canSeal: false });
    expect([fault?.path, fault?.code, others]).toEqual(['secret', 'secrets_key_missing', []]);
    expect(fault?.message).toMatch(/jwksUri or jwks.*SECRETS_KEY/);
  });

  it('takes a private address where that is allowed', () => {
    expect(faultsOf({ jwksUri: 'http://127.0.0.1:4000/jwks' }, { allowPrivate: true })).toEqual([]);
  });

  it('repeats no secret, key or address', () => {
    const value = 'MARK';
    const fields = { jwksUri: `http://${value}`, jwks: { keys: [{ kty: value, n: value }] }, secret: value };
    const said = JSON.stringify(issuerFaults(fields, { ...POLICY, canSeal: false }));
    expect(said).not.toContain(value);
  });
});
