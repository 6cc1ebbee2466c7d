import { createPublicKey } from 'node:crypto';
import type { Fault } from '../../platform/errors/fault';
import { requiredFault, formatFault } from '../../platform/errors/fault-words';
import type { SignatureAlgorithm } from './service-credential';

export interface CredentialKeyRequest {
  readonly algorithm: SignatureAlgorithm;
  readonly publicKey?: string | undefined;
}

/** The key of a new credential: the caller's public key, or a secret that the service creates later. */
type CredentialKey =
  | { readonly algorithm: 'ed25519'; readonly publicKey: string }
  | { readonly algorithm: 'hmac-sha256'; readonly publicKey: null };

/** Checks the key of a new credential against its algorithm (contract section 2). `canSeal`: secrets can be encrypted. */
export function credentialKey(
  { algorithm, publicKey }: CredentialKeyRequest,
  canSeal: boolean,
): CredentialKey | { readonly faults: readonly Fault[] } {
  if (publicKey !== undefined && holdsPrivateKey(publicKey)) return { faults: [privateKeyFault()] };
  if (algorithm === 'hmac-sha256') {
    const faults: Fault[] = [];
    if (publicKey !== undefined) faults.push(needlessKeyFault());
    if (!canSeal) faults.push(noSecretsKeyFault());
    return faults.length > 0 ? { faults } : { algorithm, publicKey: null };
  }
  if (publicKey === undefined) return { faults: [requiredFault('publicKey')] };
  const normalized = normalizedPublicKey(publicKey);
  return 'fault' in normalized ? { faults: [normalized.fault] } : { algorithm, publicKey: normalized.pem };
}

function needlessKeyFault(): Fault {
  const message = 'publicKey is for ed25519; the secret of hmac-sha256 is made by the service. Leave it out.';
  return { path: 'publicKey', code: 'conflicting_fields', message };
}

function noSecretsKeyFault(): Fault {
  const message =
    'The service has no SECRETS_KEY, so it cannot keep secrets; use ed25519, or have its operator set one.';
  return { path: 'algorithm', code: 'secrets_key_missing', message };
}

const PATH = 'publicKey';
const PRIVATE_KEY = /PRIVATE KEY/i;
/** Exactly one block: OpenSSL would find a block in any text, and accept certificates too. */
const PUBLIC_KEY = /^-----BEGIN PUBLIC KEY-----\s([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----$/;

/** The bytes before the 32 key bytes of every Ed25519 key in SPKI (RFC 8410, section 4). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const SPKI_BYTES = SPKI_PREFIX.length + 32;

/** Whether the client sent a private key, which must never leave its owner. */
function holdsPrivateKey(pem: string): boolean {
  return PRIVATE_KEY.test(pem);
}

/** The message never repeats the key, and says that it counts as leaked. */
function privateKeyFault(): Fault {
  const words =
    'holds a private key. It has left its owner and is no secret any more: delete it, make a new pair, and send';
  return formatFault(PATH, `${words} only the public half (-----BEGIN PUBLIC KEY-----)`);
}

/** The SPKI PEM of an Ed25519 public key in canonical form, or the fault of the text. */
function normalizedPublicKey(pem: string): { readonly pem: string } | { readonly fault: Fault } {
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

/** Compares bytes, so that OpenSSL never parses another kind of key, such as RSA with an exponent of thousands of bits. */
function isEd25519Spki(der: Buffer): boolean {
  return der.length === SPKI_BYTES && der.subarray(0, SPKI_PREFIX.length).equals(SPKI_PREFIX);
}

/** The y coordinates of the points of small order, as RFC 8032 encodes them, with their non-canonical encodings. */
const SMALL_ORDER_POINTS = new Set([
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
]);
const POINT_BYTES = 32;
const SIGN_BIT = 0x80;

/**
 * Whether signatures for an Ed25519 key (SPKI DER) can be forged. A point of small order, such as a key of zeros from a
 * template, has valid signatures that need no private key. OpenSSL accepts such a key.
 */
function isForgeable(spki: Buffer): boolean {
  const point = Buffer.from(spki.subarray(-POINT_BYTES));
  const last = POINT_BYTES - 1;
  point[last] = (point[last] ?? 0) & ~SIGN_BIT;
  return SMALL_ORDER_POINTS.has(point.toString('hex'));
}
