import { createHmac, createPublicKey, createSecretKey, timingSafeEqual, verify, type KeyObject } from 'node:crypto';
import type { ReceivedSignature } from './received-signature';
import type { SignatureAlgorithm } from './signature-algorithms';

/** What the signatures of one credential are verified with, ready to use. */
export interface VerifyingKey {
  readonly algorithm: SignatureAlgorithm;
  readonly key: KeyObject;
}

/** `publicKey` is SPKI PEM, checked when the credential was made. Throws for a key of another kind. */
export function ed25519Key(publicKey: string): VerifyingKey {
  const key = createPublicKey(publicKey);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('A service credential is stored with a key of another kind');
  return { algorithm: 'ed25519', key };
}

/** The key is the UTF-8 bytes of the secret as it was shown, not what it would be if it were decoded. */
export function hmacKey(secret: string): VerifyingKey {
  return { algorithm: 'hmac-sha256', key: createSecretKey(secret, 'utf8') };
}

/** Whether the key's own algorithm, never the one that the request asks for, finds that the signature is of this key. */
export function isSignedWith({ algorithm, key }: VerifyingKey, { base, signature }: ReceivedSignature): boolean {
  if (algorithm === 'ed25519') return verify(null, base, key, signature);
  const expected = createHmac('sha256', key).update(base).digest();
  return expected.length === signature.length && timingSafeEqual(expected, signature);
}
