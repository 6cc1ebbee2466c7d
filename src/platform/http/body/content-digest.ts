import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { credentialRefused } from '../../errors/challenges';

/** A digest of RFC 9530 that a signature covers; the body has to have it. */
export interface ExpectedDigest {
  readonly algorithm: 'sha256' | 'sha512';
  readonly value: Buffer;
}

const expected = Symbol('expected digests');

interface Expecting extends IncomingMessage {
  [expected]?: readonly ExpectedDigest[];
}

/** Notes what the body of a request has to be: the signature is verified before a byte of the body is read. */
export function expectContentDigest(request: IncomingMessage, digests: readonly ExpectedDigest[]): void {
  (request as Expecting)[expected] = digests;
}

/** Whether the body was signed: until all of it has been read, nobody knows whether it is the one that was. */
export function expectsContentDigest(request: IncomingMessage): boolean {
  return (request as Expecting)[expected] !== undefined;
}

/** Throws `invalid_signature` unless the bytes that came over the line have every digest that was noted. */
export function checkContentDigest(request: IncomingMessage, transmitted: Buffer): void {
  for (const { algorithm, value } of (request as Expecting)[expected] ?? []) {
    const digest = createHash(algorithm).update(transmitted).digest();
    if (digest.length !== value.length || !timingSafeEqual(digest, value)) {
      throw credentialRefused('invalid_signature', 'The body does not have the Content-Digest that was signed.');
    }
  }
}
