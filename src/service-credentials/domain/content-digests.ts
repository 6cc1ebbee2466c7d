import type { ExpectedDigest } from '../../platform/http/body/content-digest';
import { signatureRefused } from './signature-refused';
import { readDictionary } from './structured-dictionary';

interface KnownDigest {
  readonly algorithm: ExpectedDigest['algorithm'];
  readonly bytes: number;
}

/** RFC 9530 has others, which are no protection (md5, sha) and are passed over. */
const KNOWN_DIGESTS: ReadonlyMap<string, KnownDigest> = new Map([
  ['sha-256', { algorithm: 'sha256', bytes: 32 }],
  ['sha-512', { algorithm: 'sha512', bytes: 64 }],
]);

/** Reads a `Content-Digest` header: every digest that we can check, one at least. Throws `invalid_signature`. */
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
