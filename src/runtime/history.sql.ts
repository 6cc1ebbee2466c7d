import type { Statement } from '../platform/postgres/pipelined-connection';
import type { ValueChange } from './domain/value-change';

/**
 * The changes of a batch, in the order of the arrays. $12: the moment of all of them in epoch microseconds, later than
 * the earlier changes of their values, whose rows are locked. $13: the time of the outcome clock.
 */
export const INSERT_CHANGES: Statement = {
  name: 'runtime_insert_changes',
  text: `
    INSERT INTO value_changes (tenant_id, subject, scope, owner_id, name, op, previous, current, cause, changed_by,
      period_start, position, at, stored_at)
    SELECT unnest($1::uuid[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]), unnest($5::text[]),
      unnest($6::text[]), unnest($7::json[]), unnest($8::json[]), unnest($9::json[]), unnest($10::text[]),
      unnest($11::timestamptz[]), generate_subscripts($1::uuid[], 1), to_timestamp($12::float8 / 1000000), $13::timestamptz`,
};

export function insertChangesParameters(
  changes: readonly ValueChange[],
  atMicros: number,
  storedAt: Date,
): readonly unknown[] {
  return [
    changes.map(({ key }) => key.tenantId),
    changes.map(({ key }) => key.subject),
    changes.map(({ key }) => key.scope),
    changes.map(({ key }) => key.ownerId),
    changes.map(({ key }) => key.name),
    changes.map(({ op }) => op),
    changes.map(({ previous }) => (previous === null ? null : JSON.stringify(previous))),
    changes.map(({ current }) => JSON.stringify(current)),
    changes.map(({ cause }) => JSON.stringify(cause)),
    changes.map(({ changedBy }) => changedBy),
    changes.map(({ periodStart }) => periodStart),
    atMicros,
    storedAt,
  ];
}
