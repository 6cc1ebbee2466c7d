import { createPublicKey } from 'node:crypto';
import type { Fault } from '../../platform/errors/fault';
import { formatFault } from '../../platform/errors/fault-words';
import { isForgeable } from './weak-public-keys';

const PATH = 'publicKey';
const PRIVATE_KEY = /PRIVATE KEY/i;
/** One block and nothing beside it: OpenSSL would look for one in any text, and take certificates too. */
const PUBLIC_KEY = /^-----BEGIN PUBLIC KEY-----\s([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----$/;

/** What stands before the 32 bytes of every Ed25519 key in SPKI (RFC 8410, section 4). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const SPKI_BYTES = SPKI_PREFIX.length + 32;

/** Whether somebody sent the half of a key pair that must never leave its owner. */
export function holdsPrivateKey(pem: string): boolean {
  return PRIVATE_KEY.test(pem);
}

/** Its words never repeat the key, and say that it is burnt. */
export function privateKeyFault(): Fault {
  const words =
    'holds a private key. It has left its owner and is no secret any more: delete it, make a new pair, and send';
  return formatFault(PATH, `${words} only the public half (-----BEGIN PUBLIC KEY-----)`);
}

/** The SPKI PEM of an Ed25519 public key in the one form in which it is stored, or what is wrong with the text. */
export function normalizedPublicKey(pem: string): { readonly pem: string } | { readonly fault: Fault } {
  const base64 = PUBLIC_KEY.exec(pem.trim())?.[1];
  const der = base64 === undefined ? undefined : Buffer.from(base64, 'base64');
  if (der === undefined || !isEd25519Spki(der)) {
    const words =
      'is not the public key of an Ed25519 pair as SPKI in PEM, which begins with -----BEGIN PUBLIC KEY-----';
    return { fault: formatFault(PATH, words) };
  }
  if (isForgeable(der)) {
    return {
      fault: formatFault(PATH, 'is a key that anybody can sign for, such as one of zeros; make a pair of your own'),
    };
  }
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return { pem: key.export({ type: 'spki', format: 'pem' }).toString() };
}

/** By its bytes: OpenSSL is handed no key of another kind, such as RSA with an exponent of thousands of bits. */
function isEd25519Spki(der: Buffer): boolean {
  return der.length === SPKI_BYTES && der.subarray(0, SPKI_PREFIX.length).equals(SPKI_PREFIX);
}
