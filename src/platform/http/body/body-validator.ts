import { Ajv, type ErrorObject } from 'ajv';
import { parseTimestamp } from '../../values/timestamp';
import { capFaults, FAULTS_MAX } from '../../errors/cap-faults';
import type { Fault } from '../../errors/fault';
import { isUuid } from '../../values/uuid';
import { byLocation } from './fault-location';
import { locatedFaultOf } from './body-faults';
import { bodySchema } from './body-schema';
import { walkBody } from './body-walk';
import type { Reference, SchemaObject } from '../openapi/open-api-schema';

export type CheckedBody<T> =
  | { readonly value: T; readonly faults?: undefined }
  | { readonly value?: undefined; readonly faults: readonly Fault[] };

/**
 * Checks the shape of a parsed body. `value` is a plain object (no instance of the DTO's class), without the nulls that mean
 * absent. `faults` are in the order of the schema's fields, at most `faultsMax` and a final `too_many_faults`. Items of a batch
 * have a smaller limit, since each of a thousand items could be full of faults.
 */
export type BodyValidator<T> = (body: unknown, faultsMax?: number) => CheckedBody<T>;

const ajv = new Ajv({
  allErrors: true,
  strict: true,
  // A union is written by its types alone, and a nullable field is one.
  allowUnionTypes: true,
  // A field is what the client sent, not what its object inherits.
  ownProperties: true,
  messages: false,
  // To check the schemas of `bodySchema` by another schema would take longer than to compile all of them.
  validateSchema: false,
  formats: {
    'date-time': (text: string) => 'at' in parseTimestamp(text),
    uuid: isUuid,
    uri: (text: string) => URL.canParse(text),
  },
});

/**
 * Compiles an OpenAPI 3.0 schema, `$ref`s into `components` resolved. No coercion, no defaults: what is not right is refused.
 * Throws when the schema has a rule that could not be enforced.
 */
export function compileBodyValidator<T>(
  schema: SchemaObject | Reference,
  components: Readonly<Record<string, SchemaObject | Reference>>,
  location = 'body',
): BodyValidator<T> {
  const { rules, shape } = bodySchema(schema, components, location);
  const matches = ajv.compile<T>(rules);
  return (body, faultsMax = FAULTS_MAX) => {
    const walked = walkBody(body, shape, faultsMax);
    if (matches(walked.value) && walked.faults.length === 0) return { value: walked.value };
    const errors: ErrorObject[] = matches.errors ?? [];
    const found = [...walked.faults, ...errors.map((error) => locatedFaultOf(error, walked.value, shape))];
    const faults = found.sort(byLocation).map(({ fault }) => fault);
    return { faults: capFaults(withoutConsequences(faults), faultsMax, walked.uncollected) };
  };
}

/** A value of the wrong type breaks its other rules too; only the wrong type is reported. */
function withoutConsequences(faults: readonly Fault[]): readonly Fault[] {
  const mistyped = new Set(faults.filter(({ code }) => code === 'type').map(({ path }) => path));
  return faults.filter(({ path, code }) => code === 'type' || !mistyped.has(path));
}
