import { DomainError, type DomainErrorExtras } from '../../errors/domain-error';
import type { ErrorCode } from '../../errors/error-codes';

/** How much of an oversized body is kept to show what it was: enough for the head of a batch. */
export const RECEIVED_BYTES_MAX = 64 * 1024;

/** A request that was refused for its body or as a whole, with what was read of it, for the review area (contract section 7). */
export class BodyRefusal extends DomainError {
  constructor(
    code: ErrorCode,
    message: string,
    /** Inflated where that worked. All of it when it is malformed, at most its first 64 KiB when it is too large. */
    readonly received: Buffer = Buffer.alloc(0),
    extras: DomainErrorExtras = {},
    /** Whether all of it is one JSON value. */
    readonly isJson = false,
  ) {
    super(code, message, extras);
  }
}

/** 413; `head` is the beginning of what was read, a copy of at most `RECEIVED_BYTES_MAX`. */
export function bodyTooLarge(bodyBytesMax: number, head: Buffer): BodyRefusal {
  return new BodyRefusal('payload_too_large', `The body is larger than ${bodyBytesMax} bytes.`, head);
}

/** 413; `head` is the beginning of what was inflated, a copy of at most `RECEIVED_BYTES_MAX`. */
export function inflatesTooFar(inflationMax: number, head: Buffer): BodyRefusal {
  const words = `The gzip body inflates to more than ${inflationMax} times its size; send it plain or in smaller parts.`;
  return new BodyRefusal('payload_too_large', words, head);
}

/** 400; `words` say what is wrong and never quote the body. */
export function malformedBody(words: string, received: Buffer): BodyRefusal {
  return new BodyRefusal('malformed_json', words, received);
}

/** 415. */
export function unsupportedBody(words: string, headers: Readonly<Record<string, string>> = {}): BodyRefusal {
  return new BodyRefusal('unsupported_media_type', words, undefined, { headers });
}
