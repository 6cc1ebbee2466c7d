import { describeFaults } from './describe-faults';
import { DomainError } from './domain-error';
import { fieldPath, requiredFault, typeFault } from './fault-words';
import { problemDetails, problemHeaders } from './problem-details';

describe('problemDetails', () => {
  it('has every field of the contract, with the same text in detail and message', () => {
    const details = [requiredFault('identity.type'), typeFault('source', 'a string')];
    const error = new DomainError('validation_failed', describeFaults(details), { details });
    expect(problemDetails(error, 'request-1')).toEqual({
      type: '/problems/validation_failed',
      title: 'The input is not valid',
      status: 422,
      detail: 'identity.type is required. (and 1 more fault)',
      error_code: 'validation_failed',
      message: 'identity.type is required. (and 1 more fault)',
      details,
      request_id: 'request-1',
    });
  });

  it('names the state path of a refused mutation, and only there', () => {
    const error = new DomainError('validation_failed', 'No.', { path: 'state.sessionId' });
    expect(problemDetails(error, '1').path).toBe('state.sessionId');
    expect(problemDetails(new DomainError('not_found', 'No.'), '1')).not.toHaveProperty('path');
  });

  it('has the status that the operator has chosen, and the code all the same', () => {
    const problem = problemDetails(new DomainError('source_not_allowed', 'No.'), '1', { source_not_allowed: 409 });
    expect(problem).toMatchObject({ status: 409, error_code: 'source_not_allowed' });
  });

  it('never shows what went wrong underneath', () => {
    const error = new DomainError('unavailable', 'Later.', { cause: new Error('secret') });
    expect(JSON.stringify(problemDetails(error, '1'))).not.toContain('secret');
  });
});

describe('problemHeaders', () => {
  it('gives every 503 a Retry-After, of whole seconds and at least one', () => {
    const retryAfter = (seconds?: number): unknown =>
      problemHeaders(new DomainError('unavailable', '', seconds === undefined ? {} : { retryAfterSeconds: seconds }))[
        'Retry-After'
      ];
    expect([retryAfter(), retryAfter(0), retryAfter(0.2), retryAfter(2.1)]).toEqual(['1', '1', '1', '3']);
  });

  it('gives every 401 a challenge, the better one of whoever refused if there is one', () => {
    const challenge = { 'WWW-Authenticate': 'Bearer error="invalid_token"' };
    expect(problemHeaders(new DomainError('unauthenticated', ''))).toHaveProperty('WWW-Authenticate', 'Bearer');
    expect(problemHeaders(new DomainError('unauthenticated', '', { headers: challenge }))).toMatchObject(challenge);
  });

  it('gives a refusal that the operator has made a conflict no challenge', () => {
    const error = new DomainError('source_not_allowed', '', { headers: { 'WWW-Authenticate': 'Bearer' } });
    expect(problemHeaders(error)).toHaveProperty('WWW-Authenticate');
    expect(problemHeaders(error, { source_not_allowed: 409 })).not.toHaveProperty('WWW-Authenticate');
  });

  it('lets nobody store a refusal', () => {
    expect(problemHeaders(new DomainError('not_found', ''))).toHaveProperty('Cache-Control', 'no-store');
  });
});

describe('fieldPath', () => {
  it.each([
    ['', 'source', 'source'],
    ['identity', 'type', 'identity.type'],
    ['attributes', 'odd key', 'attributes["odd key"]'],
    ['attributes', 'a"b', 'attributes["a\\"b"]'],
    ['', '__proto__', '__proto__'],
    ['', '', '[""]'],
    ['a', 'line\nbreak\u202E', 'a["line\uFFFDbreak\uFFFD"]'],
    ['', '\uD800', '["\uFFFD"]'],
  ])('writes the field of %j named %j as %s', (parent, name, path) => {
    expect(fieldPath(parent, name)).toBe(path);
  });

  it('shows at most 64 characters of a name', () => {
    expect(fieldPath('', 'x'.repeat(100_000))).toBe(`["${'x'.repeat(64)}…"]`);
  });
});
