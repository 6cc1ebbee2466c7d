/** What a token may be signed with (contract section 2); `none` never. */
export const JWT_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'HS256'] as const;
export type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number];

/** Those that are verified with a public key. */
export const PUBLIC_KEY_ALGORITHMS = ['RS256', 'PS256', 'ES256'] as const satisfies readonly JwtAlgorithm[];

/** Those that are verified with a secret that the issuer shares. */
export const SECRET_ALGORITHMS = ['HS256'] as const satisfies readonly JwtAlgorithm[];

/** What a key is made of, as `KeyObject` says it. */
interface KeyKind {
  readonly type: string;
  readonly asymmetricKeyType?: string | undefined;
  readonly asymmetricKeyDetails?: { readonly namedCurve?: string | undefined } | undefined;
}

/**
 * Whether a key is of the one kind that an algorithm takes. What the libraries check as well, since everything hangs on it:
 * a public key taken for a shared secret would let anybody sign.
 */
export function isKeyFor(algorithm: JwtAlgorithm, key: KeyKind): boolean {
  switch (algorithm) {
    case 'HS256':
      return key.type === 'secret';
    case 'RS256':
    case 'PS256':
      return key.type === 'public' && key.asymmetricKeyType === 'rsa';
    case 'ES256':
      return (
        key.type === 'public' && key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
      );
  }
}
