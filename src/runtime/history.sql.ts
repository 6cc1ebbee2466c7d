import type { Statement } from '../platform/postgres/statement';
import { timestampOfMicros, timestampsOfMicros } from '../platform/values/timestamp';
import type { ValueChange } from './domain/value-change';

/**
 * The changes of a batch, in the order of the arrays. $12: their moments, later than the earlier changes of their values,
 * whose rows are locked. $13: the time of the outcome clock.
 */
export const INSERT_CHANGES: Statement = {
  name: 'runtime_insert_changes',
  text: `
    INSERT INTO value_changes (tenant_id, subject, scope, owner_id, name, op, previous, current, cause, changed_by,
      period_start, position, at, stored_at)
    SELECT unnest($1::uuid[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]), unnest($5::text[]),
      unnest($6::text[]), unnest($7::json[]), unnest($8::json[]), unnest($9::json[]), unnest($10::text[]),
      unnest($11::timestamptz[]), generate_subscripts($1::uuid[], 1), unnest($12::timestamptz[]), $13::timestamptz`,
};

/**
 * The same for changes of one value by one kind of operation, as of a counter that everybody adds to: what they share is
 * sent once. Takes a sixth less of PostgreSQL and a quarter less of the service than `INSERT_CHANGES` (docs/adr/0063).
 */
export const INSERT_ALIKE_CHANGES: Statement = {
  name: 'runtime_insert_alike_changes',
  text: `
    INSERT INTO value_changes (tenant_id, subject, scope, owner_id, name, op, period_start, previous, current, cause,
      changed_by, position, at, stored_at)
    SELECT $1::uuid AS tenant_id, $2::text, $3::text, $4::text, $5::text, $6::text, $7::timestamptz, unnest($8::json[]),
      unnest($9::json[]), unnest($10::json[]), unnest($11::text[]), generate_subscripts($9::json[], 1),
      $12::timestamptz, $13::timestamptz`,
};

/** The statement for the changes of a batch, at least one, and its parameters. */
export function insertChanges(
  changes: readonly ValueChange[],
  storedAt: Date,
): readonly [Statement, readonly unknown[]] {
  const [first] = changes;
  if (first === undefined || !changes.every((change) => isAlike(change, first))) {
    return [INSERT_CHANGES, insertChangesParameters(changes, storedAt)];
  }
  const { tenantId, subject, scope, ownerId, name } = first.key;
  const periodStart = first.periodStart === null ? null : new Date(first.periodStart);
  const shared = [tenantId, subject, scope, ownerId, name, first.op, periodStart];
  return [INSERT_ALIKE_CHANGES, [...shared, ...valuesAndCauses(changes), timestampOfMicros(first.atMicros), storedAt]];
}

/** Whether two changes of a batch differ in nothing but values, cause and participant: then their row is one, and their moment. */
function isAlike(a: ValueChange, b: ValueChange): boolean {
  // Batches of many participants differ here, mostly in the first comparison.
  const isSameValue = a.key.subject === b.key.subject && a.key.name === b.key.name && a.key.ownerId === b.key.ownerId;
  const isSameScope = isSameValue && a.key.scope === b.key.scope && a.key.tenantId === b.key.tenantId;
  return isSameScope && a.op === b.op && a.periodStart === b.periodStart;
}

function valuesAndCauses(changes: readonly ValueChange[]): readonly unknown[] {
  return [
    changes.map(({ previous }) => (previous === null ? null : JSON.stringify(previous))),
    changes.map(({ current }) => JSON.stringify(current)),
    changes.map(({ cause }) => JSON.stringify(cause)),
    changes.map(({ changedBy }) => changedBy),
  ];
}

function insertChangesParameters(changes: readonly ValueChange[], storedAt: Date): readonly unknown[] {
  return [
    changes.map(({ key }) => key.tenantId),
    changes.map(({ key }) => key.subject),
    changes.map(({ key }) => key.scope),
    changes.map(({ key }) => key.ownerId),
    changes.map(({ key }) => key.name),
    changes.map(({ op }) => op),
    ...valuesAndCauses(changes),
    changes.map(({ periodStart }) => periodStart),
    timestampsOfMicros(changes.map(({ atMicros }) => atMicros)),
    storedAt,
  ];
}
