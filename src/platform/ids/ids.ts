import { hash, randomUUID } from 'node:crypto';
import { v7 } from 'uuid';

/** A fresh id (UUIDv7): ids of one node sort by the time they were made, which keeps indexes dense. */
export function newId(): string {
  return v7();
}

/** An id that tells one thing from all others and that nothing is sorted by: 0.2 µs, where one that sorts takes 2. */
export function newMark(): string {
  return randomUUID();
}

/**
 * A name-based UUIDv8 (RFC 9562) out of SHA-256: the same parts give the same id on every node, other parts another one.
 *
 * No part may hold a lone surrogate, since all of those encode to the same bytes.
 */
export function nameId(parts: readonly string[]): string {
  // Length-prefixed: with a separator, ("shop|eu", "1") would swallow ("shop", "eu|1").
  const digest = hash('sha256', parts.map((part) => `${part.length}:${part}`).join(''), 'hex');
  // Version 8 and variant 10 take six bits; 122 bits of the digest stay.
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const [a, b, c, d] = [digest.slice(0, 8), digest.slice(8, 12), digest.slice(13, 16), digest.slice(17, 20)];
  return `${a}-${b}-8${c}-${variant}${d}-${digest.slice(20, 32)}`;
}
