/** One refusal a client can meet: its HTTP status, its title, and what the client should do (contract section 1). */
export interface ErrorKind {
  readonly status: number;
  readonly title: string;
  readonly mend: string;
}

/** Every `error_code`; `docs/errors.md` describes the same ones, and a test holds the two together. */
export const ERROR_CODES = {
  malformed_json: {
    status: 400,
    title: 'The body is not JSON',
    mend: 'Send one JSON value in UTF-8.',
  },
  system_field: {
    status: 400,
    title: 'The mutation writes to a field of the system',
    mend: 'Remove the operations that `details` names.',
  },
  undeclared_variable: {
    status: 400,
    title: 'The mutation writes to a variable that the campaign does not declare',
    mend: 'Correct the paths that `details` names, or define the variables.',
  },
  unauthenticated: {
    status: 401,
    title: 'A credential is needed',
    mend: 'Send `Authorization: Bearer <API key>`.',
  },
  invalid_api_key: {
    status: 401,
    title: 'The API key is not known',
    mend: 'Check for a typo; create a new key if it is lost.',
  },
  api_key_expired: {
    status: 401,
    title: 'The API key has expired',
    mend: 'Rotate it or create a new one.',
  },
  api_key_revoked: {
    status: 401,
    title: 'The API key was revoked',
    mend: 'Use the key that replaced it.',
  },
  invalid_token: {
    status: 401,
    title: 'The token is not taken',
    mend: 'Get a new token from an issuer that the workspace knows.',
  },
  invalid_signature: {
    status: 401,
    title: 'The signature is not taken',
    mend: 'Sign this very request again, with a clock that is right.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The credential lacks a scope',
    mend: 'Use a credential that has the scope named in the challenge.',
  },
  source_not_allowed: {
    status: 403,
    title: 'The credential may not send this source',
    mend: 'Use a credential whose `sources` names it.',
  },
  context_violation: {
    status: 403,
    title: "The request is outside of the token's context",
    mend: 'Name no other campaign, app or participant than the token is for.',
  },
  not_found: {
    status: 404,
    title: 'There is nothing here',
    mend: 'Check the address; a record of another workspace is not found either.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The route does not take this method',
    mend: 'Use one of the methods that `Allow` names.',
  },
  identity_conflict: {
    status: 409,
    title: 'The identifiers belong to two customers',
    mend: 'Correct the identity, or name the EXTERNAL identifier too.',
  },
  profile_erased: {
    status: 409,
    title: 'The person was erased',
    mend: 'Stop sending events of this person, or lift the erasure if the customer has returned.',
  },
  key_revoked: {
    status: 409,
    title: 'The API key was revoked',
    mend: 'Create a new key; a revoked one stays so.',
  },
  entry_not_open: {
    status: 409,
    title: 'The review entry is closed',
    mend: 'Replay open entries only; `message` says what has become of this one.',
  },
  issuer_taken: {
    status: 409,
    title: 'The workspace has registered the issuer and audience already',
    mend: 'Delete that record first, or register another audience.',
  },
  variable_limit_exceeded: {
    status: 409,
    title: 'The scope has no room for another variable',
    mend: 'Archive a variable that is no longer used.',
  },
  variable_type_conflict: {
    status: 409,
    title: 'The variable has another type',
    mend: 'Declare it with the type that it has, or take another name.',
  },
  incompatible_event_type: {
    status: 409,
    title: 'The new version would break senders',
    mend: 'Make the change compatible, or send `force: true`.',
  },
  payload_too_large: {
    status: 413,
    title: 'The body is over its byte limit',
    mend: 'Send less in one request.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body is not of a type this route takes',
    mend: 'Send `Content-Type: application/json` in UTF-8, plain or gzip.',
  },
  validation_failed: {
    status: 422,
    title: 'The input is not valid',
    mend: 'Mend each fault that `details` names and send it again.',
  },
  batch_too_large: {
    status: 422,
    title: 'The batch has too many items',
    mend: 'Split it.',
  },
  campaign_required: {
    status: 422,
    title: 'No campaign is named',
    mend: 'Send `campaign_id`, or have the token or its issuer name a campaign.',
  },
  rate_limited: {
    status: 429,
    title: 'Too much in too short a time',
    mend: 'Wait for the seconds in `Retry-After` and send it again.',
  },
  internal: {
    status: 500,
    title: 'The service made a mistake',
    mend: 'Send it again with the same event id; report the request id if it stays.',
  },
  unavailable: {
    status: 503,
    title: 'The service cannot answer now',
    mend: 'Send the same again after `Retry-After` seconds; what it changes takes effect once.',
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_CODES;
