import type { OpenAPIObject } from '@nestjs/swagger';
import { tidy } from './openapi-tidy';

const aDocument = (schemas: object, paths: object = {}): OpenAPIObject =>
  ({ openapi: '3.0.0', info: { title: '', version: '' }, paths, components: { schemas } }) as OpenAPIObject;

describe('a tidied document', () => {
  it('refers to a named schema without a wrapping, and keeps the words about it', () => {
    const state = { allOf: [{ $ref: '#/components/schemas/State' }], description: 'How far it has got.' };
    const document = aDocument({ Job: { type: 'object', properties: { state } }, State: { type: 'string' } });
    tidy(document);
    expect(document.components?.schemas).toEqual({
      Job: { type: 'object', properties: { state: { $ref: '#/components/schemas/State' } } },
      State: { type: 'string', description: 'How far it has got.' },
    });
  });

  it('says of each alternative that it may be null', () => {
    const value = { oneOf: [{ type: 'number' }, { type: 'string' }], nullable: true };
    const document = aDocument({ Tree: { type: 'object', additionalProperties: value } });
    tidy(document);
    const nullable = true;
    expect(document.components?.schemas?.['Tree']).toEqual({
      type: 'object',
      additionalProperties: {
        anyOf: [
          { type: 'number', nullable },
          { type: 'string', nullable },
        ],
      },
    });
  });

  it('has no pattern for a number', () => {
    const limit = { name: 'limit', in: 'query', schema: { type: 'integer', pattern: '^1$', minimum: 1 } };
    const document = aDocument({}, { '/': { get: { responses: {}, parameters: [limit] } } });
    tidy(document);
    expect(limit.schema).toEqual({ type: 'integer', minimum: 1 });
  });
});
