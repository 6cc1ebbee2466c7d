import { createHash, timingSafeEqual } from 'node:crypto';
import { credentialRefused } from '../../errors/challenges';
import type { RequestState } from '../service-request';

/** Throws `invalid_signature` unless the transmitted bytes have all expected digests. */
export function checkContentDigest({ expectedDigests = [] }: RequestState, transmitted: Buffer): void {
  for (const { algorithm, value } of expectedDigests) {
    const digest = createHash(algorithm).update(transmitted).digest();
    if (digest.length !== value.length || !timingSafeEqual(digest, value)) {
      throw credentialRefused('invalid_signature', 'The body does not have the Content-Digest that was signed.');
    }
  }
}
