import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import type { WebhookAlgorithm } from './webhook';

/*
 * Signatures by Standard Webhooks 1.0.0: https://github.com/standard-webhooks/standard-webhooks
 */

/** Bytes; the specification asks for 24 to 64. */
export const SECRET_BYTES = 32;
const SECRET_PREFIX = 'whsec_';
const PRIVATE_PREFIX = 'whsk_';
const PUBLIC_PREFIX = 'whpk_';
const SEED_BYTES = 32;
/** PKCS #8 of an Ed25519 key up to its seed (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
/** SPKI of an Ed25519 key up to its 32 bytes. */
const SPKI_PREFIX_BYTES = 12;

/** What signs calls; `shown`: what a receiver needs to verify them. */
export interface SigningSecret {
  readonly secret: string;
  readonly shown: string;
}

/** A call to sign. */
export interface SignedContent {
  /** `webhook-id`: the same for every attempt. */
  readonly id: string;
  /** `webhook-timestamp`: seconds since the epoch. */
  readonly timestamp: number;
  readonly body: string;
}

/** Makes a secret: `whsec_` with 32 random bytes, or an Ed25519 pair, whose public half (`whpk_`) is shown. */
export function makeSecret(algorithm: WebhookAlgorithm, randomBytes: (size: number) => Buffer): SigningSecret {
  if (algorithm === 'hmac-sha256') {
    const secret = SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
    return { secret, shown: secret };
  }
  const { privateKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ type: 'pkcs8', format: 'der' }).subarray(PKCS8_PREFIX.length);
  const secret = PRIVATE_PREFIX + seed.toString('base64');
  return { secret, shown: publicHalf(secret) };
}

/** The header `webhook-signature`: a signature by each secret, the newest first. */
export function signatureHeader(secrets: readonly string[], content: SignedContent): string {
  const signed = Buffer.from(`${content.id}.${content.timestamp}.${content.body}`);
  return secrets.map((secret) => signatureOf(secret, signed)).join(' ');
}

/** The text that a receiver verifies signatures of this secret with. */
export function shownSecret(secret: string): string {
  return secret.startsWith(PRIVATE_PREFIX) ? publicHalf(secret) : secret;
}

function signatureOf(secret: string, signed: Buffer): string {
  if (secret.startsWith(PRIVATE_PREFIX)) return `v1a,${sign(null, signed, privateKeyOf(secret)).toString('base64')}`;
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}

function publicHalf(secret: string): string {
  const spki = createPublicKey(privateKeyOf(secret)).export({ type: 'spki', format: 'der' });
  return PUBLIC_PREFIX + spki.subarray(SPKI_PREFIX_BYTES).toString('base64');
}

function privateKeyOf(secret: string): ReturnType<typeof createPrivateKey> {
  const seed = Buffer.from(secret.slice(PRIVATE_PREFIX.length), 'base64').subarray(0, SEED_BYTES);
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}
