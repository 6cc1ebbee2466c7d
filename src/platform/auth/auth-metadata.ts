/** Metadata key: the scope that a route requires. */
export const REQUIRED_SCOPE = 'required scope';

/** Metadata key: further scopes that a route requires. */
export const FURTHER_SCOPES = 'further scopes';

/** Metadata key: the route takes `?unmask=true`. */
export const UNMASKS = 'unmasks';

/** Metadata key: in the console, the route needs a fresh proof. */
export const NEEDS_PROOF = 'needs proof';

/** Metadata key: the route accepts signed requests beside API keys. */
export const TAKES_SIGNATURES = 'takes signatures';

/** Metadata key: why the route needs no credential. */
export const UNAUTHENTICATED = 'unauthenticated';

/** Metadata key: the rate limit of the route. */
export const RATE_LIMITED = 'rate limited';

/** Names of the security schemes in the OpenAPI document. */
export const API_KEY_SECURITY = 'apiKey';
export const SIGNATURE_SECURITY = 'serviceSignature';
export const JWT_SECURITY = 'participantToken';

/** Names of the passport strategies. */
export const API_KEY_STRATEGY = 'api-key';
export const SIGNATURE_STRATEGY = 'signature';
export const JWT_STRATEGY = 'jwt';

/** The extension of an OpenAPI operation that names its rate limit. */
export const RATE_LIMIT_EXTENSION = 'x-rate-limit';
