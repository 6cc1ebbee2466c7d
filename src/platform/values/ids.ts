import { hash, randomBytes, randomFillSync, randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { currentTimeMs } from './clock';

const RANDOM_BYTES = 16;
/** For so many ids at once: fetching it costs the same however little it is, and five times as much as the rest of an id. */
const randomness = new Uint8Array(256 * RANDOM_BYTES);
let randomAt = randomness.length;
/** Orders the ids of one millisecond; starts at a random number below 2^31. */
let sequence = randomBytes(4).readUInt32BE() >>> 1;

/** A fresh id (UUIDv7): ids sort by the database's time at which they were made, which keeps indexes dense. */
export function newId(): string {
  if (randomAt === randomness.length) {
    randomFillSync(randomness);
    randomAt = 0;
  }
  const random = randomness.subarray(randomAt, randomAt + RANDOM_BYTES);
  randomAt += RANDOM_BYTES;
  sequence = (sequence + 1) >>> 0;
  return v7({ msecs: Math.floor(currentTimeMs()), random, seq: sequence });
}

/** The smallest id that `newId` can make at this time: all that are smaller were made before. */
export function firstIdAt(time: Date): string {
  const ms = time.getTime().toString(16).padStart(12, '0');
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7000-8000-000000000000`;
}

/** A random unique id without order, to recognise one attempt, turn or claim. Rows get `newId`, which sorts by time. */
export function randomId(): string {
  return randomUUID();
}

/**
 * A name-based UUIDv8 (RFC 9562) out of SHA-256: the same parts give the same id on every node, other parts another one.
 *
 * No part may hold a lone surrogate, since all of those encode to the same bytes.
 */
export function nameId(parts: readonly string[]): string {
  return uuidOfDigest(hash('sha256', lengthPrefixed(parts), 'hex'));
}

/** One text for a list of them, and another one for every other list: a separator may stand in a part itself. */
export function lengthPrefixed(parts: readonly string[]): string {
  return parts.map((part) => `${part.length}:${part}`).join('');
}

/** The first bits of a digest in hexadecimal as a UUIDv8. */
export function uuidOfDigest(digest: string): string {
  // Version 8 and variant 10 take six bits; 122 bits of the digest stay.
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const [a, b, c, d] = [digest.slice(0, 8), digest.slice(8, 12), digest.slice(13, 16), digest.slice(17, 20)];
  return `${a}-${b}-8${c}-${variant}${d}-${digest.slice(20, 32)}`;
}
