/** What a token may be signed with (contract section 2); `none` never. */
export const JWT_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'HS256'] as const;
export type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number];

/** Those that are verified with a public key. */
export const PUBLIC_KEY_ALGORITHMS = ['RS256', 'PS256', 'ES256'] as const satisfies readonly JwtAlgorithm[];

/** Those that are verified with a secret that the issuer shares. */
export const SECRET_ALGORITHMS = ['HS256'] as const satisfies readonly JwtAlgorithm[];

/** The properties of a `KeyObject` that say which algorithms it fits. */
interface KeyKind {
  readonly type: string;
  readonly asymmetricKeyType?: string | undefined;
  readonly asymmetricKeyDetails?: { readonly namedCurve?: string | undefined } | undefined;
}

/**
 * Whether a key is of the kind that the algorithm needs. The libraries check this too. It is checked here as well because a
 * public key used as a shared secret would let every client sign tokens.
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
