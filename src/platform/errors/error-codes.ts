/** A refusal: its HTTP status, its title, and what the client should do (contract section 1). */
export interface ErrorKind {
  readonly status: number;
  readonly title: string;
  readonly remedy: string;
}

/** Every `error_code`. A test compares them with `docs/errors.md`. */
export const ERROR_CODES = {
  malformed_json: {
    status: 400,
    title: 'The body is not JSON',
    remedy: 'Send one JSON value in UTF-8.',
  },
  system_field: {
    status: 400,
    title: 'The mutation writes to a field of the system',
    remedy: 'Remove the operations that `details` names.',
  },
  undeclared_variable: {
    status: 400,
    title: 'The mutation writes to a variable that the campaign does not declare',
    remedy: 'Correct the paths that `details` names, or define the variables.',
  },
  unauthenticated: {
    status: 401,
    title: 'A credential is needed',
    remedy: 'Send `Authorization: Bearer <API key>`.',
  },
  invalid_api_key: {
    status: 401,
    title: 'The API key is not known',
    remedy: 'Check for a typo; create a new key if it is lost.',
  },
  api_key_expired: {
    status: 401,
    title: 'The API key has expired',
    remedy: 'Rotate it or create a new one.',
  },
  api_key_revoked: {
    status: 401,
    title: 'The API key was revoked',
    remedy: 'Use the key that replaced it.',
  },
  invalid_token: {
    status: 401,
    title: 'The token was rejected',
    remedy: 'Get a new token from an issuer that the workspace knows.',
  },
  invalid_signature: {
    status: 401,
    title: 'The signature was rejected',
    remedy: 'Sign exactly this request again, with a correct clock.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The credential lacks a scope',
    remedy: 'Use a credential that has the scope named in the challenge.',
  },
  source_not_allowed: {
    status: 403,
    title: 'The credential may not send this source',
    remedy: 'Use a credential whose `sources` names it.',
  },
  cross_site_request: {
    status: 403,
    title: 'The request does not come from the console',
    remedy: 'Send `Sec-Fetch-Site: same-origin` and `X-CDS-Console: 1`, as pages of the console do.',
  },
  proof_required: {
    status: 403,
    title: 'A fresh proof of who is signed in is needed',
    remedy: 'Prove it with `POST /console/api/session:prove`, and send the request again within 5 minutes.',
  },
  context_violation: {
    status: 403,
    title: "The request is outside of the token's context",
    remedy: 'Name no other campaign, app or participant than the token is for.',
  },
  not_found: {
    status: 404,
    title: 'There is no such route or record',
    remedy: 'Check the address; a record of another workspace is not found either.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The route does not take this method',
    remedy: 'Use one of the methods that `Allow` names.',
  },
  identity_conflict: {
    status: 409,
    title: 'The identifiers belong to two customers',
    remedy: 'Correct the identity, or name the EXTERNAL identifier too.',
  },
  profile_erased: {
    status: 409,
    title: 'The person was erased',
    remedy: 'Stop sending events of this person, or lift the erasure if the customer has returned.',
  },
  key_revoked: {
    status: 409,
    title: 'The API key was revoked',
    remedy: 'Create a new key; a revoked key stays revoked.',
  },
  entry_not_open: {
    status: 409,
    title: 'The review entry is closed',
    remedy: 'Replay open entries only; `message` says what has become of this one.',
  },
  reaction_disabled: {
    status: 409,
    title: 'The reaction is switched off',
    remedy: 'Define it with `enabled: true` first.',
  },
  backfill_running: {
    status: 409,
    title: 'A backfill of this reaction is running',
    remedy: 'Wait until it is over, or cancel it.',
  },
  replay_running: {
    status: 409,
    title: 'A replay of this webhook is running',
    remedy: 'Wait until it is over, or cancel it.',
  },
  issuer_taken: {
    status: 409,
    title: 'The workspace has registered the issuer and audience already',
    remedy: 'Change or delete that record, or register another audience.',
  },
  variable_limit_exceeded: {
    status: 409,
    title: 'The scope has as many variables as it may have',
    remedy: 'Archive a variable that is no longer used, or use another campaign if it has no names left.',
  },
  variable_type_conflict: {
    status: 409,
    title: 'The variable has another type',
    remedy: 'Declare it with the type that it has, or take another name.',
  },
  variable_rules_conflict: {
    status: 409,
    title: 'Other campaigns declare other limits or another period',
    remedy: 'Declare the same as the other campaigns, or archive the variable there first.',
  },
  limit_reached: {
    status: 409,
    title: 'A value would leave its limits',
    remedy: 'Change the value by less, or change the limits of the variable.',
  },
  incompatible_event_type: {
    status: 409,
    title: 'The new version would break senders',
    remedy: 'Make the change compatible, or send `force: true`.',
  },
  event_expired: {
    status: 410,
    title: 'The event has expired',
    remedy: 'Do not ask again: it was removed when its retention ended. Its event id stays known.',
  },
  payload_too_large: {
    status: 413,
    title: 'The body is over its byte limit',
    remedy: 'Send less in one request.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body is not of a type this route takes',
    remedy: 'Send `Content-Type: application/json` in UTF-8, plain or gzip.',
  },
  validation_failed: {
    status: 422,
    title: 'The input is not valid',
    remedy: 'Correct each fault that `details` names and send it again.',
  },
  batch_too_large: {
    status: 422,
    title: 'The batch has too many items',
    remedy: 'Split it.',
  },
  campaign_required: {
    status: 422,
    title: 'No campaign is named',
    remedy: 'Send `campaign_id`, or have the token or its issuer name a campaign.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    remedy: 'Wait for the seconds in `Retry-After` and send it again.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    remedy:
      'Your request is not the cause; retry with the same event id. If the error persists, report the request id.',
  },
  unavailable: {
    status: 503,
    title: 'The service cannot answer now',
    remedy: 'Send the same again after `Retry-After` seconds; what it changes takes effect once.',
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_CODES;
