import { createHmac, createPublicKey, createSecretKey, timingSafeEqual, verify, type KeyObject } from 'node:crypto';
import type { ExpectedDigest } from '../../platform/http/service-request';
import type { SignatureAlgorithm } from './service-credential';
import { readSignatureInput, SIGNATURE_LABEL, type SignedComponent } from './signature-input';
import { signatureRefused, readDictionary } from './structured-dictionary';

/** The signed parts of a request, as they were sent. */
export interface SignedMessage {
  readonly method: string;
  /** The request target, with nothing decoded. */
  readonly target: string;
  /** Header values. Repeated headers are joined by commas. */
  readonly signatureInput: string | undefined;
  readonly signature: string | undefined;
  readonly contentDigest: string | undefined;
}

/** A well-formed signature within its time window. It is not verified yet. */
interface ReceivedSignature {
  readonly keyId: string;
  readonly algorithm: SignatureAlgorithm;
  /** The bytes that were signed. */
  readonly base: Buffer;
  readonly signature: Buffer;
  /** The digests that the body must have. */
  readonly digests: readonly ExpectedDigest[];
}

/** Reads the signature of a request (contract section 2). Throws `invalid_signature` with words that say what is wrong. */
export function readSignature(message: SignedMessage, now: Date): ReceivedSignature {
  const { components, created, expires, keyId, algorithm, serialized } = readSignatureInput(message.signatureInput);
  const signature = signatureBytes(message.signature);
  assertTimely({ created, expires }, now);
  const digests = readContentDigest(message.contentDigest);
  const values = componentValues(message);
  const base = signatureBase(
    components.map((component) => [component, values[component]]),
    serialized,
  );
  // Node decodes targets and headers as Latin-1: this restores the bytes that were sent.
  return { keyId, algorithm, base: Buffer.from(base, 'latin1'), signature, digests };
}

function signatureBytes(header: string | undefined): Buffer {
  const [value] = readDictionary('Signature', header).get(SIGNATURE_LABEL) ?? [];
  if (!(value instanceof ArrayBuffer)) {
    throw signatureRefused(`Signature must have ${SIGNATURE_LABEL}, in base64 between colons.`);
  }
  return Buffer.from(value);
}

function componentValues({ method, target, contentDigest }: SignedMessage): Record<SignedComponent, string> {
  const { path, query } = signedTarget(target);
  // Surrounding white space is not part of a header's value (RFC 9421, section 2.1).
  return { '@method': method, '@path': path, '@query': query, 'content-digest': contentDigest?.trim() ?? '' };
}

/** The two signed components of a request target (RFC 9421, sections 2.2.6 and 2.2.7). */
interface SignedTarget {
  /** As it was sent: `%3A` and `:` are different paths here. */
  readonly path: string;
  /** With its question mark. `?` alone when there is no query. */
  readonly query: string;
}

/** Scheme and authority of the absolute form, which proxies receive (RFC 9112, section 3.2.2). */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** Splits a request target without decoding it. */
export function signedTarget(target: string): SignedTarget {
  const local = target.replace(ORIGIN, '');
  const queryAt = local.indexOf('?');
  const path = queryAt === -1 ? local : local.slice(0, queryAt);
  return { path: path === '' ? '/' : path, query: queryAt === -1 ? '?' : local.slice(queryAt) };
}

/** A component's name in the signature base, and its value in this request. */
type ComponentValue = readonly [name: string, value: string];

/**
 * The text that is signed (RFC 9421, section 2.5): a line per component in the order of the signature, then the parameters
 * of the signature, without a final line break.
 */
export function signatureBase(components: readonly ComponentValue[], signatureParams: string): string {
  const lines = [...components, ['@signature-params', signatureParams] as const];
  return lines.map(([name, value]) => `"${name}": ${value}`).join('\n');
}

/** Tolerance for the difference of clocks and the time of transmission (contract section 2). */
const SIGNATURE_WINDOW_SECONDS = 300;

/** Throws `invalid_signature` unless `created` lies within 300 s of `now`, both ends included, and `expires` lies ahead. */
export function assertTimely(
  { created, expires }: { readonly created: number; readonly expires: number | undefined },
  now: Date,
): void {
  const nowSeconds = now.getTime() / 1_000;
  if (created < nowSeconds - SIGNATURE_WINDOW_SECONDS) throw offTheClock('before');
  if (created > nowSeconds + SIGNATURE_WINDOW_SECONDS) throw offTheClock('after');
  if (expires !== undefined && expires <= nowSeconds)
    throw signatureRefused('The signature has expired; sign it again.');
}

function offTheClock(side: 'before' | 'after'): Error {
  return signatureRefused(
    `The signature's created lies more than ${SIGNATURE_WINDOW_SECONDS} s ${side} the service's time, which the header Date shows; ` +
      'sign each request when it is sent, with a clock that is right.',
  );
}

interface KnownDigest {
  readonly algorithm: ExpectedDigest['algorithm'];
  readonly bytes: number;
}

/** The other algorithms of RFC 9530 (md5, sha) are insecure and are ignored. */
const KNOWN_DIGESTS: ReadonlyMap<string, KnownDigest> = new Map([
  ['sha-256', { algorithm: 'sha256', bytes: 32 }],
  ['sha-512', { algorithm: 'sha512', bytes: 64 }],
]);

/** Reads all supported digests of a `Content-Digest` header. Throws `invalid_signature` unless there is at least one. */
export function readContentDigest(header: string | undefined): ExpectedDigest[] {
  const digests = [...readDictionary('Content-Digest', header)].flatMap(([name, [value]]) => {
    const known = KNOWN_DIGESTS.get(name);
    if (known === undefined) return [];
    if (!(value instanceof ArrayBuffer) || value.byteLength !== known.bytes) {
      throw signatureRefused(`Content-Digest: ${name} must be ${known.bytes} bytes in base64 between colons.`);
    }
    return [{ algorithm: known.algorithm, value: Buffer.from(value) }];
  });
  if (digests.length === 0) {
    throw signatureRefused(`Content-Digest must have one of ${[...KNOWN_DIGESTS.keys()].join(', ')}.`);
  }
  return digests;
}

/** The key that verifies the signatures of one credential. */
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

/** The key is the UTF-8 bytes of the secret as it was shown; the secret is not decoded. */
export function hmacKey(secret: string): VerifyingKey {
  return { algorithm: 'hmac-sha256', key: createSecretKey(secret, 'utf8') };
}

/** Verifies a signature with the algorithm of the key, never with the one that the request names. */
export function isSignedWith({ algorithm, key }: VerifyingKey, { base, signature }: ReceivedSignature): boolean {
  if (algorithm === 'ed25519') return verify(null, base, key, signature);
  const expected = createHmac('sha256', key).update(base).digest();
  return expected.length === signature.length && timingSafeEqual(expected, signature);
}
