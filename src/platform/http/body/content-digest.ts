import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { credentialRefused } from '../../errors/challenges';

/** A digest (RFC 9530) that a signature covers and that the body must have. */
export interface ExpectedDigest {
  readonly algorithm: 'sha256' | 'sha512';
  readonly value: Buffer;
}

const expected = Symbol('expected digests');

interface Expecting extends IncomingMessage {
  [expected]?: readonly ExpectedDigest[];
}

/** Stores the expected digests of a body. The signature is verified before the body is read. */
export function expectContentDigest(request: IncomingMessage, digests: readonly ExpectedDigest[]): void {
  (request as Expecting)[expected] = digests;
}

/** Whether the body has to match a signed digest, which is known only after all of it was read. */
export function expectsContentDigest(request: IncomingMessage): boolean {
  return (request as Expecting)[expected] !== undefined;
}

/** Throws `invalid_signature` unless the transmitted bytes have all expected digests. */
export function checkContentDigest(request: IncomingMessage, transmitted: Buffer): void {
  for (const { algorithm, value } of (request as Expecting)[expected] ?? []) {
    const digest = createHash(algorithm).update(transmitted).digest();
    if (digest.length !== value.length || !timingSafeEqual(digest, value)) {
      throw credentialRefused('invalid_signature', 'The body does not have the Content-Digest that was signed.');
    }
  }
}
