import { API_KEY_SECURITY, JWT_SECURITY, SIGNATURE_SECURITY } from '../../auth/auth-metadata';
import type { OpenApiOperation } from './open-api-schema';
import { errorCodesOf, problemResponses } from './openapi-problems';

const NO_EXAMPLES = { faults: {}, statePaths: {} };
const operation = (fields: object): OpenApiOperation => ({ responses: {}, ...fields });
const parameter = (place: 'path' | 'query', name: string) => ({ name, in: place, schema: { type: 'string' } });

describe('the refusals of an operation', () => {
  it('are few on a route without authentication', () => {
    expect(errorCodesOf(operation({}))).toEqual(['method_not_allowed', 'internal']);
  });

  it('follow from its security schemes', () => {
    const codes = (scheme: string) => errorCodesOf(operation({ security: [{ [scheme]: [] }] }));
    expect(codes(API_KEY_SECURITY)).toEqual(expect.arrayContaining(['invalid_api_key', 'insufficient_scope']));
    expect(codes(SIGNATURE_SECURITY)).toEqual(expect.arrayContaining(['invalid_signature', 'rate_limited']));
    expect(codes(JWT_SECURITY)).toEqual(expect.arrayContaining(['invalid_token', 'unavailable']));
    expect(codes(JWT_SECURITY)).not.toContain('invalid_api_key');
  });

  it('follow from its body and its parameters', () => {
    expect(errorCodesOf(operation({ requestBody: { content: {} } }))).toEqual(
      expect.arrayContaining(['malformed_json', 'payload_too_large', 'unsupported_media_type', 'validation_failed']),
    );
    expect(errorCodesOf(operation({ parameters: [parameter('query', 'limit')] }))).toContain('validation_failed');
  });

  it('differ between an id (404) and a name, which has a pattern (422)', () => {
    const codes = (name: string) => errorCodesOf(operation({ parameters: [parameter('path', name)] }));
    for (const id of ['id', 'eventId', 'jobId']) expect(codes(id)).not.toContain('validation_failed');
    for (const name of ['campaign_id', 'eventType', 'sub']) expect(codes(name)).toContain('validation_failed');
    expect([codes('id'), codes('sub')].every((each) => each.includes('not_found'))).toBe(true);
  });

  it('include those that the route declares, in the order of ERROR_CODES', () => {
    const codes = errorCodesOf(operation({ 'x-error-codes': ['key_revoked', 'batch_too_large'] }));
    expect(codes).toEqual(['method_not_allowed', 'key_revoked', 'batch_too_large', 'internal']);
  });
});

describe('the responses of refusals', () => {
  it('are one per status, with an example per code', () => {
    const { responses, shared } = problemResponses(
      ['identity_conflict', 'profile_erased', 'internal'],
      {},
      NO_EXAMPLES,
    );
    expect(responses).toEqual({
      409: { $ref: '#/components/responses/IdentityConflictOrProfileErased' },
      500: { $ref: '#/components/responses/Internal' },
    });
    const { examples } = shared['IdentityConflictOrProfileErased']?.content?.['application/problem+json'] ?? {};
    expect(Object.keys(examples ?? {})).toEqual(['identity_conflict', 'profile_erased']);
  });

  it('have the statuses of the policy', () => {
    const { responses } = problemResponses(
      ['variable_limit_exceeded', 'variable_type_conflict'],
      { variable_limit_exceeded: 403 },
      NO_EXAMPLES,
    );
    expect(Object.keys(responses)).toEqual(['403', '409']);
  });
});
