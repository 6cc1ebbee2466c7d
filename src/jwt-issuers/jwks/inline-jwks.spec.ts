import { generateKeyPairSync } from 'node:crypto';
import { INLINE_KEYS_MAX, readInlineJwks } from './inline-jwks';
import { usableKeys } from './public-keys';

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const EC = pair.publicKey.export({ format: 'jwk' });
const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });

function faultsOf(jwks: unknown): readonly unknown[] {
  const reading = readInlineJwks('jwks', jwks);
  return 'faults' in reading ? reading.faults.map(({ path, code }) => `${path} ${code}`) : [];
}

describe('readInlineJwks', () => {
  it.each([
    ['text', 'keys', 'jwks type'],
    ['a list of keys', [EC], 'jwks type'],
    ['a key without its set', EC, 'jwks.keys required'],
    ['no list', { keys: null }, 'jwks.keys required'],
    ['one key instead of a list', { keys: EC }, 'jwks.keys type'],
    ['no key', { keys: [] }, 'jwks.keys too_few_items'],
    ['21 keys', { keys: Array.from({ length: INLINE_KEYS_MAX + 1 }, () => EC) }, 'jwks.keys too_many_items'],
  ])('refuses %s', (_what, jwks, fault) => {
    expect(faultsOf(jwks)).toEqual([fault]);
  });

  it('refuses a set with one key that cannot be used, and names every fault of every key', () => {
    const keys = [EC, { ...RSA, use: 'enc', alg: 'RSA-OAEP' }, pair.privateKey.export({ format: 'jwk' }), 'key'];
    expect(faultsOf({ keys })).toEqual([
      'jwks.keys[1].use enum',
      'jwks.keys[1].alg enum',
      'jwks.keys[2] format',
      'jwks.keys[3] type',
    ]);
  });

  it('refuses two keys with one kid, but takes several without', () => {
    expect(faultsOf({ keys: [{ ...EC, kid: 'a' }, EC, { ...RSA, kid: 'a' }, RSA] })).toEqual([
      'jwks.keys[2].kid duplicate',
    ]);
    expect(faultsOf({ keys: Array.from({ length: INLINE_KEYS_MAX }, () => EC) })).toEqual([]);
  });

  it('gives the public members of the keys alone, and they are the same keys', () => {
    const keys = [
      { ...EC, kid: 'a', use: 'sig', key_ops: ['verify', '\u0000'], x5c: ['\uD800'], note: 'x'.repeat(1_000) },
      { ...RSA, alg: 'PS256', ext: true },
    ];
    const reading = readInlineJwks('jwks', { keys, secret: 's' });
    expect(reading).toEqual({
      jwks: {
        keys: [
          { ...EC, kid: 'a' },
          { ...RSA, alg: 'PS256' },
        ],
      },
    });
    const read = (entries: readonly unknown[]) =>
      usableKeys(entries).map(({ key, ...rest }) => ({ ...rest, ...key.export({ format: 'jwk' }) }));
    expect('jwks' in reading && read(reading.jwks.keys)).toEqual(read(keys));
  });
});
