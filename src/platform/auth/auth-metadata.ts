/** Under this a route keeps the scope that it asks for. */
export const REQUIRED_SCOPE = 'required scope';

/** Under this a route keeps the scopes that it asks for beside that one. */
export const FURTHER_SCOPES = 'further scopes';

/** Under this a route says that it shows what it masks to whoever asks for it and has the scope. */
export const UNMASKS = 'unmasks';

/** Under this a route says that it takes signed requests beside API keys. */
export const TAKES_SIGNATURES = 'takes signatures';

/** Under this a route says why anybody may call it. */
export const UNAUTHENTICATED = 'unauthenticated';

/** Under this a route keeps the rate limit that holds for it. */
export const RATE_LIMITED = 'rate limited';

/** Names of the security schemes in the OpenAPI document. */
export const API_KEY_SECURITY = 'apiKey';
export const SIGNATURE_SECURITY = 'serviceSignature';
export const JWT_SECURITY = 'participantToken';

/** Names of the passport strategies. */
export const API_KEY_STRATEGY = 'api-key';
export const SIGNATURE_STRATEGY = 'signature';
export const JWT_STRATEGY = 'jwt';

/** Under this an operation of the document names the rate limit that holds for it. */
export const RATE_LIMIT_EXTENSION = 'x-rate-limit';
