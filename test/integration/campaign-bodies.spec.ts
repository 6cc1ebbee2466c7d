import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileBodyValidator } from '../../src/platform/http/body/body-validator';
import type { SchemaObject } from '../../src/platform/http/openapi/open-api-schema';
import { parseReactionDefinition } from '../../src/reactions/domain/reaction-definition';
import { parseMutationRequest } from '../../src/runtime/domain/mutation-request';

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, SchemaObject>> };
}

const { components }: Document = JSON.parse(readFileSync(join(__dirname, '..', '..', 'docs', 'openapi.json'), 'utf8'));

/** Faults that no schema can express. */
const NOT_IN_SCHEMA = [
  / (?:invalid_characters|conflicting_fields|range|too_large)$/,
  // The type of a value depends on the operation, and on whether there is a `valueFrom`.
  /^ops\[\d+\]\.value (?:type|required)$/,
  // The grammar of conditions and of paths into an event.
  /^when/,
  /^ops\[\d+\]\.valueFrom format$/,
  // Text of blanks only.
  /^(?:eventType|source) empty$/,
];

function documentedFaults(dto: string): (body: unknown) => string[] {
  const validate = compileBodyValidator(components.schemas[dto]!, components.schemas);
  return (body) => (validate(body).faults ?? []).map(({ path, code }) => `${path} ${code}`);
}

const scalar = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const text = (...usual: string[]) =>
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...usual) }, scalar, fc.constant('x'.repeat(300)));
const operation = (more: Record<string, fc.Arbitrary<unknown>> = {}) =>
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ path: text('state.user.a'), op: text('set', 'set', 'inc'), value: fc.integer() }),
    },
    fc.record(
      { path: text('state.user.a'), op: text('set', 'inc', 'dec', 'del'), value: scalar, odd: scalar, ...more },
      { requiredKeys: [] },
    ),
    scalar,
  );
const ops = (each: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 5, arbitrary: fc.array(each, { minLength: 1, maxLength: 3 }) }, fc.constant([]), scalar);

const right = fc.array(
  fc.record({ path: fc.constant('state.user.a'), op: fc.constantFrom('set', 'inc', 'dec'), value: fc.integer() }),
  { minLength: 1, maxLength: 3 },
);

describe('the body of a mutation', () => {
  const documented = documentedFaults('MutationDto');
  const id = text('summer', 'a.b', '-a', '');
  const body = fc.oneof(
    {
      weight: 9,
      arbitrary: fc.record(
        {
          ops: ops(operation()),
          mutation_id: id,
          campaign_id: id,
          app_id: id,
          user_id: id,
          mutationId: id,
          campaignId: id,
          appId: id,
          userId: id,
          odd: scalar,
        },
        { requiredKeys: ['ops'] },
      ),
    },
    fc.record(
      { ops: right, campaign_id: fc.constantFrom('summer', null), userId: fc.constant('jane') },
      { requiredKeys: ['ops'] },
    ),
    scalar,
  );

  it('has the same faults by its documented schema and by its parser, except those that no schema can express', () => {
    compareWith(body, documented, (sent) => parseMutationRequest(sent, undefined));
  });
});

describe('the definition of a reaction', () => {
  const documented = documentedFaults('DefineReactionDto');
  const name = text('purchase', 'a b', '-a', ' ', '');
  const valueFrom = text('properties.amount', 'amount');
  const body = fc.oneof(
    {
      weight: 9,
      arbitrary: fc.record(
        {
          name,
          eventType: name,
          source: name,
          enabled: scalar,
          odd: scalar,
          when: fc.oneof(fc.constant({ '==': [1, 1] }), scalar),
          ops: ops(operation({ valueFrom })),
        },
        { requiredKeys: ['name', 'eventType', 'ops'] },
      ),
    },
    fc.record({ name: fc.constant('a'), eventType: fc.constant('a b'), ops: right, enabled: fc.boolean() }),
    scalar,
  );

  it('has the same faults by its documented schema and by its parser, except those that no schema can express', () => {
    compareWith(body, documented, parseReactionDefinition);
  });
});

function compareWith(
  bodies: fc.Arbitrary<unknown>,
  documented: (body: unknown) => string[],
  parse: (body: unknown) => { readonly faults: readonly { readonly path: string; readonly code: string }[] } | object,
): void {
  let accepted = 0;
  fc.assert(
    fc.property(bodies, (sent) => {
      const parsed = parse(structuredClone(sent));
      const faults = 'faults' in parsed ? parsed.faults : [];
      if (faults.length === 0) accepted += 1;
      const found = faults.map(({ path, code }) => `${path} ${code}`);
      const inSchema = documented(structuredClone(sent));
      const onlyInSchema = inSchema.filter((fault) => !found.includes(fault));
      const onlyInParser = found.filter((fault) => !inSchema.includes(fault));
      const unexpected = onlyInParser.filter((fault) => !NOT_IN_SCHEMA.some((pattern) => pattern.test(fault)));
      expect({ sent, onlyInSchema, unexpected }).toEqual({ sent, onlyInSchema: [], unexpected: [] });
    }),
    { numRuns: 2_000 },
  );
  // Neither side of the comparison may be nearly empty.
  expect(accepted).toBeGreaterThan(50);
}
