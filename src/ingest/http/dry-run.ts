import { ApiQuery } from '@nestjs/swagger';
import type { Fault } from '../../platform/errors/fault';
import { enumFault, fieldPath, unknownFieldFault } from '../../platform/errors/fault-words';
import { validationFailed } from '../../platform/errors/validation-failed';

const PARAMETER = 'dry_run';

/** Describes `?dry_run=` of a route; the route asks `isDryRun` for its value. */
export function ApiDryRun(): MethodDecorator {
  return ApiQuery({
    name: PARAMETER,
    required: false,
    enum: ['true', 'false'],
    description: '`true` answers as the live call would and writes nothing.',
  });
}

/**
 * Reads the query of an ingest route. Not a query class: Nest would check that while the body is still on its way, and an
 * event must not lose its place in the review area over a misspelt parameter. Throws `validation_failed`.
 */
export function isDryRun(query: Readonly<Record<string, unknown>>): boolean {
  const faults = Object.keys(query).flatMap((name): Fault[] =>
    name === PARAMETER ? [] : [unknownFieldFault(fieldPath('', name), 'this query')],
  );
  const value = Object.hasOwn(query, PARAMETER) ? query[PARAMETER] : undefined;
  if (value !== undefined && value !== 'true' && value !== 'false')
    faults.push(enumFault(PARAMETER, ['true', 'false']));
  if (faults.length > 0) throw validationFailed(faults);
  return value === 'true';
}
