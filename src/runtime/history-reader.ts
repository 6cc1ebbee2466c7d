import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { decodeCursor, encodeCursor } from '../platform/pagination/cursor';
import type { Page } from '../platform/pagination/page';
import { PAGE_BYTES_MAX } from '../platform/pagination/page-bytes';
import { notACursor } from '../platform/pagination/time-key';
import type { TimeRange } from '../platform/pagination/time-range';
import type { VariableScope, VariableValue } from '../variables/domain/variable';
import type { OperationKind } from './domain/operation';
import type { ChangeCause, ValueKey } from './domain/value-change';

/** Whose history is read: of one value, or, without a name, of all values of a participant in a campaign. */
export type HistoryKey = Omit<ValueKey, 'tenantId' | 'name'> & { readonly name: string | undefined };

/** What a page of the history shows. */
export interface HistoryPageQuery extends TimeRange {
  readonly cursor: string | undefined;
  readonly limit: number;
}

export interface HistoryEntry {
  readonly at: Date;
  readonly scope: VariableScope;
  readonly name: string;
  readonly op: OperationKind;
  readonly previous: VariableValue | null;
  readonly current: VariableValue;
  readonly cause: ChangeCause;
  /** The participant who changed a shared value; empty: somebody else, or an erased person. */
  readonly changedBy: string;
  /** Null for a variable without periods. */
  readonly periodStart: Date | null;
}

interface HistoryRow {
  /** Epoch microseconds, which a Date cannot hold. */
  readonly micros: string;
  readonly position: number;
  readonly scope: VariableScope;
  readonly name: string;
  readonly op: OperationKind;
  /** Texts are JSON, parsed row by row. */
  readonly previous: string | null;
  readonly current: string;
  readonly cause: string;
  readonly changedBy: string;
  readonly periodStart: Date | null;
  /** How many entries were found, those that the page has no space for included. */
  readonly found: number;
}

/** The bytes of an entry beside its values and its cause. */
const OTHER_FIELDS_BYTES = 160;
/** Later than any change. */
const END_MS = 253_402_300_799_999;
const MICROS = /^\d{1,18}$/;
const POSITION = /^\d{1,9}$/;

/**
 * The newest $8 entries of some values before a moment, of which the first ones are returned up to $9 bytes, but at
 * least one. $5 to $7: before this moment in epoch microseconds, and before this position in it; from $7 on. `names`: a
 * set of rows with the names of the values. Of each name at most $8 entries are read by the primary key.
 */
const readEntries = (names: string): string => `
  SELECT micros, position, scope, name, op, previous, current, cause, changed_by AS "changedBy",
    period_start AS "periodStart", found
  FROM (
    SELECT *, (count(*) OVER ())::integer AS found, sum(octet_length(coalesce(previous, '')) + octet_length(current) + octet_length(cause)
      + ${OTHER_FIELDS_BYTES}) OVER (ORDER BY at DESC, position DESC ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW) AS before
    FROM (
      SELECT c.at, (date_part('epoch', c.at) * 1000000)::bigint AS micros, c.position, $3::text AS scope, n.name, c.op,
        c.previous::text AS previous, c.current::text AS current, c.cause::text AS cause, c.changed_by, c.period_start
      FROM (${names}) n (name)
      CROSS JOIN LATERAL (
        SELECT at, position, op, previous, current, cause, changed_by, period_start FROM value_changes
        WHERE tenant_id = $1 AND subject = $2 AND scope = $3 AND owner_id = $4 AND name = n.name
          AND (at, position) < (to_timestamp($5::float8 / 1000000), $6::integer)
          AND at >= to_timestamp($7::float8 / 1000)
        ORDER BY at DESC, position DESC LIMIT $8
      ) c
      ORDER BY c.at DESC, c.position DESC LIMIT $8
    ) newest
  ) measured
  WHERE coalesce(before, 0) < $9
  ORDER BY at DESC, position DESC`;

export const READ_ONE = readEntries('SELECT $10::text');
/**
 * Every value with a history is stored. One row is found by its key before it is unfolded: of a participant of many
 * campaigns PostgreSQL would otherwise read the states of all participants, with parallel workers. Its subject is no
 * constant (docs/adr/0092).
 */
export const READ_ALL_OF_PARTICIPANT = readEntries(
  `SELECT jsonb_object_keys(values) FROM unnest(ARRAY[$2::text]) AS person (subject) CROSS JOIN LATERAL (
     SELECT values FROM participant_states
     WHERE tenant_id = $1 AND subject = person.subject AND campaign_id = $4 LIMIT 1
   ) state`,
);

/** Reads the history of values (contract section 12). */
@Injectable()
export class HistoryReader {
  constructor(private readonly database: DataSource) {}

  /**
   * One page, newest first; a shorter one if its entries are large. Unknown values have no entries. Throws
   * `validation_failed` for a malformed cursor.
   */
  async list(
    tenantId: string,
    { subject, scope, ownerId, name }: HistoryKey,
    { cursor, limit, from, to }: HistoryPageQuery,
  ): Promise<Page<HistoryEntry>> {
    const [micros, position] = startOf(cursor, to);
    const found: HistoryRow[] = await this.database.query(name === undefined ? READ_ALL_OF_PARTICIPANT : READ_ONE, [
      ...[tenantId, subject, scope, ownerId, micros, position],
      ...[from ?? 0, limit + 1, PAGE_BYTES_MAX],
      ...(name === undefined ? [] : [name]),
    ]);
    const shown = found.slice(0, limit);
    const last = shown.at(-1);
    const isEnd = last === undefined || last.found === shown.length;
    return { rows: shown.map(entryOf), nextCursor: isEnd ? null : encodeCursor([last.micros, String(last.position)]) };
  }
}

/**
 * Before which moment, and which position in it, a page begins: behind the cursor, and before `to`. It is one key, as with
 * two the index may begin at the wrong one (docs/adr/0012).
 */
function startOf(cursor: string | undefined, to = END_MS): readonly [micros: string, position: string] {
  const end = [`${to}000`, '0'] as const;
  if (cursor === undefined) return end;
  const [micros = '', position = ''] = decodeCursor(cursor, 2) ?? [];
  if (!MICROS.test(micros) || !POSITION.test(position)) throw notACursor();
  return Number(micros) < Number(end[0]) ? [micros, position] : end;
}

function entryOf({ micros, previous, current, cause, ...row }: HistoryRow): HistoryEntry {
  const { scope, name, op, changedBy, periodStart } = row;
  return {
    at: new Date(Math.floor(Number(micros) / 1_000)),
    scope,
    name,
    op,
    changedBy,
    periodStart,
    previous: previous === null ? null : (JSON.parse(previous) as VariableValue),
    current: JSON.parse(current) as VariableValue,
    cause: JSON.parse(cause) as ChangeCause,
  };
}
