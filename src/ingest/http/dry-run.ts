import { ApiQuery } from '@nestjs/swagger';
import { describeFaults } from '../../platform/errors/describe-faults';
import type { Fault } from '../../platform/errors/fault';
import { enumFault, fieldPath, unknownFieldFault } from '../../platform/errors/fault-words';
import { BodyRefusal } from '../../platform/http/body/body-refusal';

const PARAMETER = 'dry_run';

/** Describes `?dry_run=` of a route; the route checks it itself (`assertIngestQuery`). */
export function ApiDryRun(): MethodDecorator {
  return ApiQuery({
    name: PARAMETER,
    required: false,
    enum: ['true', 'false'],
    description: '`true` answers as the live call would and writes nothing.',
  });
}

/** Whether a request says that it is one. Its query may still be wrong, see `assertIngestQuery`. */
export function isDryRun(query: Readonly<Record<string, unknown>>): boolean {
  return Object.hasOwn(query, PARAMETER) && query[PARAMETER] === 'true';
}

/**
 * Checks the query of an ingest route. It is no query class, because Nest would check that before the body is read, and a
 * misspelt parameter must not lose the events of `body`. Throws `validation_failed`.
 */
export function assertIngestQuery(query: Readonly<Record<string, unknown>>, body: Buffer): void {
  const faults = Object.keys(query).flatMap((name): Fault[] =>
    name === PARAMETER ? [] : [unknownFieldFault(fieldPath('', name), 'this query')],
  );
  const value = Object.hasOwn(query, PARAMETER) ? query[PARAMETER] : undefined;
  if (value !== undefined && value !== 'true' && value !== 'false')
    faults.push(enumFault(PARAMETER, ['true', 'false']));
  if (faults.length > 0) {
    throw new BodyRefusal('validation_failed', describeFaults(faults), body, { details: faults }, true);
  }
}
