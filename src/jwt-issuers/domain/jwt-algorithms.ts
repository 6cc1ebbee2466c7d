/** What a token may be signed with (contract section 2); `none` never. */
export const JWT_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'HS256'] as const;
export type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number];
