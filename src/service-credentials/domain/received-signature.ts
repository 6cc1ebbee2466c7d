import type { ExpectedDigest } from '../../platform/http/body/content-digest';
import { readContentDigest } from './content-digests';
import { signedTarget } from './request-target';
import type { SignatureAlgorithm } from './signature-algorithms';
import { signatureBase } from './signature-base';
import { readSignatureInput, SIGNATURE_LABEL, type SignedComponent } from './signature-input';
import { signatureRefused } from './signature-refused';
import { assertTimely } from './signature-time';
import { readDictionary } from './structured-dictionary';

/** What a signature is about, as it came over the line. */
export interface SignedMessage {
  readonly method: string;
  /** The request target, with nothing decoded. */
  readonly target: string;
  /** Header values; of a header that came several times, all of them joined by commas. */
  readonly signatureInput: string | undefined;
  readonly signature: string | undefined;
  readonly contentDigest: string | undefined;
}

/** A signature that is well made and of our time; whether the credential that it names made it is to be found out. */
export interface ReceivedSignature {
  readonly keyId: string;
  readonly algorithm: SignatureAlgorithm;
  /** The bytes that were signed. */
  readonly base: Buffer;
  readonly signature: Buffer;
  /** What the body has to be. */
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
  // Node reads a byte of a target or header as the character of that number: this gives back the bytes that were sent.
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
  // Surrounding white space belongs to no header's value (RFC 9421, section 2.1).
  return { '@method': method, '@path': path, '@query': query, 'content-digest': contentDigest?.trim() ?? '' };
}
