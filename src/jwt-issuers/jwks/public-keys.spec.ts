import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import fc from 'fast-check';
import { candidates, readKey, usableKeys, type PublicKey } from './public-keys';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const RSA = rsa.publicKey.export({ format: 'jwk' });
const EC = ec.publicKey.export({ format: 'jwk' });

function jwkOf({ publicKey }: { readonly publicKey: KeyObject }): object {
  return publicKey.export({ format: 'jwk' });
}

/** With an RSA modulus of so many bits; what is not checked is whether it is a product of primes. */
function rsaOf(bits: number): object {
  const modulus = Buffer.alloc(bits / 8, 0xff);
  return { ...RSA, n: modulus.toString('base64url') };
}

/** With an exponent of these bytes, in hexadecimal. */
function rsaWith(exponent: string, bits = 2048): object {
  return { ...rsaOf(bits), e: Buffer.from(exponent, 'hex').toString('base64url') };
}

/** Entry, then path and code of what keeps it from being a key. */
const UNUSABLE: readonly [string, unknown, string, string][] = [
  ['text', 'key', 'keys[2]', 'type'],
  ['null', null, 'keys[2]', 'type'],
  ['a list', [], 'keys[2]', 'type'],
  ['an empty object', {}, 'keys[2].kty', 'enum'],
  ['a kind of key that nobody knows', { kty: 'AKP', alg: 'ML-DSA-44', pub: 'x' }, 'keys[2].kty', 'enum'],
  ['a kind of key that every object has by inheritance', { ...RSA, kty: 'constructor' }, 'keys[2].kty', 'enum'],
  ['an Ed25519 key', jwkOf(generateKeyPairSync('ed25519')), 'keys[2].kty', 'enum'],
  ['a symmetric key', { kty: 'oct', k: 'c2VjcmV0' }, 'keys[2]', 'format'],
  ['a private RSA key', rsa.privateKey.export({ format: 'jwk' }), 'keys[2]', 'format'],
  ['a private EC key', ec.privateKey.export({ format: 'jwk' }), 'keys[2]', 'format'],
  ['a key with one private member', { ...RSA, dq: 'AQ' }, 'keys[2]', 'format'],
  ['a key of P-384', jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-384' })), 'keys[2].crv', 'enum'],
  ['a key of secp256k1', jwkOf(generateKeyPairSync('ec', { namedCurve: 'secp256k1' })), 'keys[2].crv', 'enum'],
  ['a point that is not on the curve', { ...EC, y: EC.x }, 'keys[2]', 'format'],
  ['an RSA key without modulus', { kty: 'RSA', e: 'AQAB' }, 'keys[2]', 'format'],
  ['an RSA modulus that is a number', { kty: 'RSA', n: 5, e: 'AQAB' }, 'keys[2]', 'format'],
  ['an RSA key of 1,024 bits', jwkOf(generateKeyPairSync('rsa', { modulusLength: 1024 })), 'keys[2].n', 'range'],
  ['an RSA key of 2,040 bits', rsaOf(2040), 'keys[2].n', 'range'],
  ['an RSA key of 8,200 bits', rsaOf(8200), 'keys[2].n', 'range'],
  ['the exponent 1', { ...RSA, e: 'AQ' }, 'keys[2].e', 'range'],
  ['the exponent 0', { ...RSA, e: 'AA' }, 'keys[2].e', 'range'],
  ['an even exponent', rsaWith('010002'), 'keys[2].e', 'range'],
  ['the exponent 2 ** 32 + 1', rsaWith('0100000001'), 'keys[2].e', 'range'],
  ['an exponent of 64 bits', rsaWith('ff'.repeat(8)), 'keys[2].e', 'range'],
  ['an exponent of 256 bits', rsaWith('ff'.repeat(32)), 'keys[2].e', 'range'],
  ['an exponent as long as the modulus', rsaWith(`7f${'ff'.repeat(383)}`, 3072), 'keys[2].e', 'range'],
  ['an RSA key of 65,536 bits', rsaOf(65_536), 'keys[2].n', 'range'],
  ['a key for encryption', { ...RSA, use: 'enc' }, 'keys[2].use', 'enum'],
  ['a key for wrapping', { ...RSA, key_ops: ['wrapKey'] }, 'keys[2].key_ops', 'format'],
  ['operations that are text', { ...RSA, key_ops: 'verify' }, 'keys[2].key_ops', 'format'],
  ['a key for an algorithm we do not take', { ...RSA, alg: 'RS512' }, 'keys[2].alg', 'enum'],
  ['a public key for HS256', { ...RSA, alg: 'HS256' }, 'keys[2].alg', 'enum'],
  ['an RSA key for ES256', { ...RSA, alg: 'ES256' }, 'keys[2].alg', 'enum'],
  ['an EC key for RS256', { ...EC, alg: 'RS256' }, 'keys[2].alg', 'enum'],
  ['a kid that is a number', { ...EC, kid: 7 }, 'keys[2].kid', 'type'],
  ['a kid that cannot be stored', { ...EC, kid: 'a\u0000' }, 'keys[2].kid', 'invalid_characters'],
];

const USABLE: readonly [string, object, readonly string[]][] = [
  ['an RSA key', RSA, ['RS256', 'PS256']],
  ['an RSA key of 8,192 bits', rsaOf(8192), ['RS256', 'PS256']],
  ['the exponent 3', rsaWith('03'), ['RS256', 'PS256']],
  ['the exponent 2 ** 32 - 1', rsaWith('ffffffff', 8192), ['RS256', 'PS256']],
  ['an RSA key for PS256', { ...RSA, alg: 'PS256', use: 'sig', kid: 'a' }, ['PS256']],
  [
    'an RSA key with much around it',
    { ...RSA, key_ops: ['verify', 'sign'], x5c: ['MII'], x5t: 'x' },
    ['RS256', 'PS256'],
  ],
  ['an EC key', EC, ['ES256']],
  ['an EC key for ES256', { ...EC, alg: 'ES256', use: 'sig' }, ['ES256']],
];

describe('readKey', () => {
  it.each(UNUSABLE)('does not take %s', (_what, jwk, path, code) => {
    const reading = readKey('keys[2]', jwk);
    expect(reading).toEqual({ faults: [{ path, code, message: expect.stringContaining(path) }] });
  });

  it.each(USABLE)('takes %s as a public key', (_what, jwk) => {
    const reading = readKey('keys[2]', jwk) as { key: PublicKey };
    expect(reading.key.key.type).toBe('public');
    expect(jwk).toMatchObject(reading.key.key.export({ format: 'jwk' }));
  });

  it('takes an exponent with zeros before it', () => {
    expect(readKey('', rsaWith('00010001'))).toHaveProperty('key');
  });

  it('tells what is wrong with modulus and exponent at once', () => {
    const reading = readKey('', { ...rsaOf(65_536), e: 'ff'.repeat(500) });
    expect(reading).toMatchObject({ faults: [{ path: 'n' }, { path: 'e' }] });
  });

  it('tells every fault of a key at once', () => {
    const reading = readKey('', { ...EC, crv: 'P-521', use: 'enc', key_ops: [], alg: 'none', kid: {} });
    expect(reading).toMatchObject({
      faults: ['use', 'key_ops', 'alg', 'kid', 'crv'].map((path) => ({ path })),
    });
  });

  it('says that a secret key has leaked, without repeating it', () => {
    const jwk = rsa.privateKey.export({ format: 'jwk' });
    const text = JSON.stringify(readKey('jwks.keys[0]', jwk));
    expect(text).toContain('jwks.keys[0] holds a secret key, which must count as leaked');
    expect(text).not.toContain(jwk.d);
  });
});

describe('usableKeys', () => {
  it('passes over what it cannot use', () => {
    const entries = [...UNUSABLE.map(([, entry]) => entry), { ...EC, kid: 'last' }];
    expect(usableKeys(entries).map(({ kid }) => kid)).toEqual(['last']);
  });

  it('reads 100 entries and no more', () => {
    expect(usableKeys(Array.from({ length: 101 }, () => EC))).toHaveLength(100);
  });

  it('survives whatever a source sends', () => {
    const member = fc.oneof(fc.jsonValue(), fc.constantFrom('sig', 'RS256', 'P-256', 'RSA', 'EC', RSA.n, EC.x, EC.y));
    const names = fc.constantFrom('kty', 'n', 'e', 'crv', 'x', 'y', 'alg', 'use', 'key_ops', 'kid', '__proto__');
    const entry = fc
      .tuple(fc.constantFrom<object>({}, RSA, EC), fc.dictionary(names, member))
      .map(([base, changes]): unknown => ({ ...base, ...changes }));
    fc.assert(
      fc.property(fc.array(fc.oneof(entry, fc.jsonValue())), (entries) => {
        for (const { key } of usableKeys(entries)) {
          expect(key.type).toBe('public');
          expect(['rsa', 'ec']).toContain(key.asymmetricKeyType);
        }
      }),
    );
  });
});

describe('candidates', () => {
  const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'HS256', 'none', 'RS512', 'EdDSA', 'constructor'];

  it.each(USABLE)('are given for the algorithms that fit %s only', (_what, jwk, algorithms) => {
    const keys = usableKeys([jwk]);
    expect(ALGORITHMS.filter((alg) => candidates(keys, { alg }).length === 1)).toEqual(algorithms);
  });

  it('are those with the kid of the token, or all that fit when it has none', () => {
    const keys = usableKeys([{ ...RSA, kid: 'a' }, { ...EC, kid: 'a' }, { ...rsaOf(2048), kid: 'b' }, RSA]);
    const positions = (kid?: string) =>
      candidates(keys, { alg: 'RS256', kid }).map((key) => keys.findIndex((each) => each.key === key));
    expect(positions()).toEqual([0, 2, 3]);
    expect(positions('a')).toEqual([0]);
    expect(positions('b')).toEqual([2]);
    expect(positions('')).toEqual([]);
    expect(positions('c')).toEqual([]);
  });
});
