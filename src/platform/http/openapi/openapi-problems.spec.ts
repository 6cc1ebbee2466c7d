import { API_KEY_SECURITY, JWT_SECURITY, SIGNATURE_SECURITY } from '../../auth/auth-metadata';
import type { OpenApiOperation } from './open-api-schema';
import { errorCodesOf, problemResponses } from './openapi-problems';

const operation = (fields: object): OpenApiOperation => ({ responses: {}, ...fields });
const parameter = (place: 'path' | 'query', name: string) => ({ name, in: place, schema: { type: 'string' } });

describe('the refusals of an operation', () => {
  it('are few where nobody has to say who they are', () => {
    expect(errorCodesOf(operation({}))).toEqual(['method_not_allowed', 'internal']);
  });

  it('follow from its credentials', () => {
    const codes = (scheme: string) => errorCodesOf(operation({ security: [{ [scheme]: [] }] }));
    expect(codes(API_KEY_SECURITY)).toEqual(expect.arrayContaining(['invalid_api_key', 'insufficient_scope']));
    expect(codes(SIGNATURE_SECURITY)).toEqual(expect.arrayContaining(['invalid_signature', 'rate_limited']));
    expect(codes(JWT_SECURITY)).toEqual(expect.arrayContaining(['invalid_token', 'unavailable']));
    expect(codes(JWT_SECURITY)).not.toContain('invalid_api_key');
  });

  it('follow from what it takes', () => {
    expect(errorCodesOf(operation({ requestBody: { content: {} } }))).toEqual(
      expect.arrayContaining(['malformed_json', 'payload_too_large', 'unsupported_media_type', 'validation_failed']),
    );
    expect(errorCodesOf(operation({ parameters: [parameter('query', 'limit')] }))).toContain('validation_failed');
  });

  it('tell an id, which names something or nothing, from a name, which has a form', () => {
    const codes = (name: string) => errorCodesOf(operation({ parameters: [parameter('path', name)] }));
    for (const id of ['id', 'eventId', 'jobId']) expect(codes(id)).not.toContain('validation_failed');
    for (const name of ['campaign_id', 'eventType', 'sub']) expect(codes(name)).toContain('validation_failed');
    expect([codes('id'), codes('sub')].every((each) => each.includes('not_found'))).toBe(true);
  });

  it('are beside those that its route names, in the order of the list of all', () => {
    const codes = errorCodesOf(operation({ 'x-error-codes': ['key_revoked', 'batch_too_large'] }));
    expect(codes).toEqual(['method_not_allowed', 'key_revoked', 'batch_too_large', 'internal']);
  });
});

describe('the answers that refuse', () => {
  it('are one for each status, with an example for each code', () => {
    const { responses, shared } = problemResponses(['identity_conflict', 'profile_erased', 'internal'], {});
    expect(responses).toEqual({
      409: { $ref: '#/components/responses/IdentityConflictOrProfileErased' },
      500: { $ref: '#/components/responses/Internal' },
    });
    const { examples } = shared['IdentityConflictOrProfileErased']?.content?.['application/problem+json'] ?? {};
    expect(Object.keys(examples ?? {})).toEqual(['identity_conflict', 'profile_erased']);
  });

  it('have the statuses that the operator has chosen', () => {
    const { responses } = problemResponses(['variable_limit_exceeded', 'variable_type_conflict'], {
      variable_limit_exceeded: 403,
    });
    expect(Object.keys(responses)).toEqual(['403', '409']);
  });
});
