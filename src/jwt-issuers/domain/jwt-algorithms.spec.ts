import { createSecretKey, generateKeyPairSync } from 'node:crypto';
import { isKeyFor, JWT_ALGORITHMS } from './jwt-algorithms';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEYS = {
  'an RSA key': rsa.publicKey,
  'an RSA-PSS key': generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey,
  'a private RSA key': rsa.privateKey,
  'an EC key of P-256': generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey,
  'an EC key of P-384': generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey,
  'an EC key of secp256k1': generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey,
  'an Ed25519 key': generateKeyPairSync('ed25519').publicKey,
  'a secret': createSecretKey(Buffer.alloc(32)),
};

describe('isKeyFor', () => {
  it.each([
    ['an RSA key', ['RS256', 'PS256']],
    ['an RSA-PSS key', []],
    ['a private RSA key', []],
    ['an EC key of P-256', ['ES256']],
    ['an EC key of P-384', []],
    ['an EC key of secp256k1', []],
    ['an Ed25519 key', []],
    ['a secret', ['HS256']],
  ] as const)('takes %s for %j and nothing else', (name, algorithms) => {
    expect(JWT_ALGORITHMS.filter((algorithm) => isKeyFor(algorithm, KEYS[name]))).toEqual(algorithms);
  });
});
