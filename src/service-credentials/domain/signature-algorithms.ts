/** What a request may be signed with (contract section 2), by the names of RFC 9421. */
export const SIGNATURE_ALGORITHMS = ['ed25519', 'hmac-sha256'] as const;

export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

export function isSignatureAlgorithm(name: string): name is SignatureAlgorithm {
  return SIGNATURE_ALGORITHMS.some((algorithm) => algorithm === name);
}
