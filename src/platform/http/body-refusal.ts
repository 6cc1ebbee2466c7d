import { DomainError, type DomainErrorExtras } from '../errors/domain-error';
import type { ErrorCode } from '../errors/error-codes';

/** How much of an oversized body is kept to show what it was: enough for the head of a batch. */
export const RECEIVED_BYTES_MAX = 64 * 1024;

/** A body that was refused as bytes or as JSON, with what was read of it, for the review area (contract section 7). */
export class BodyRefusal extends DomainError {
  /** Inflated where that worked. All of it when it is malformed, at most its first 64 KiB when it is too large. */
  readonly received: Buffer;

  constructor(code: ErrorCode, message: string, received: Buffer = Buffer.alloc(0), extras: DomainErrorExtras = {}) {
    super(code, message, extras);
    this.received = received;
  }
}

/** 413; `chunks` is what was read until it was clear. */
export function bodyTooLarge(bodyBytesMax: number, chunks: readonly Buffer[]): BodyRefusal {
  return tooLarge(`The body is larger than ${bodyBytesMax} bytes.`, chunks);
}

/** 413; `chunks` is what was inflated until it was clear. */
export function inflatesTooFar(inflationMax: number, chunks: readonly Buffer[]): BodyRefusal {
  const words = `The gzip body inflates to more than ${inflationMax} times its size; send it plain or in smaller parts.`;
  return tooLarge(words, chunks);
}

function tooLarge(words: string, chunks: readonly Buffer[]): BodyRefusal {
  // A copy: a view would keep the whole of a large body in memory for as long as the refusal lives.
  const received = Buffer.from(Buffer.concat(chunks).subarray(0, RECEIVED_BYTES_MAX));
  return new BodyRefusal('payload_too_large', words, received);
}

/** 400; `words` say what is wrong and never quote the body. */
export function malformedBody(words: string, received: Buffer): BodyRefusal {
  return new BodyRefusal('malformed_json', words, received);
}

/** 415. */
export function unsupportedBody(words: string, headers: Readonly<Record<string, string>> = {}): BodyRefusal {
  return new BodyRefusal('unsupported_media_type', words, undefined, { headers });
}
