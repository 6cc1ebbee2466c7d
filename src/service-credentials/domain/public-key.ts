import { createPublicKey } from 'node:crypto';
import type { Fault } from '../../platform/errors/fault';
import { formatFault } from '../../platform/errors/fault-words';
import { isForgeable } from './weak-public-keys';

const PATH = 'publicKey';
const PRIVATE_KEY = /PRIVATE KEY/i;
/** One block and nothing beside it: OpenSSL would look for one in any text, and take certificates too. */
const PUBLIC_KEY = /^-----BEGIN PUBLIC KEY-----\s([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----$/;

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
  const key = base64 === undefined ? undefined : openedPublicKey(Buffer.from(base64, 'base64'));
  if (key === undefined) {
    return {
      fault: formatFault(PATH, 'is not an SPKI public key in PEM, which begins with -----BEGIN PUBLIC KEY-----'),
    };
  }
  if (key.asymmetricKeyType !== 'ed25519') return { fault: formatFault(PATH, 'is a key of another kind than Ed25519') };
  if (isForgeable(key.export({ type: 'spki', format: 'der' }))) {
    return {
      fault: formatFault(PATH, 'is a key that anybody can sign for, such as one of zeros; make a pair of your own'),
    };
  }
  return { pem: key.export({ type: 'spki', format: 'pem' }).toString() };
}

function openedPublicKey(der: Buffer): ReturnType<typeof createPublicKey> | undefined {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}
