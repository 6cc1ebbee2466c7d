import type { DataSource } from 'typeorm';
import { pageOf, type Page } from './page';

/**
 * What a page of a list may weigh, as JSON text: as soon as its rows have so many bytes it ends, at the earliest behind its first row.
 * Some 5 ms of JSON.parse and JSON.stringify each, 20 at the worst; 200 rows of the largest kind would be a hundred megabytes.
 */
export const PAGE_BYTES_MAX = 512 * 1024;

/** A table of large rows, and what one of them weighs. All of it is ours, and nothing of it comes from a client. */
export interface LargeRows {
  readonly table: string;
  /** The first columns of its key, which all rows of a list share; `tenant_id` leads. */
  readonly scope: readonly ['tenant_id', ...string[]];
  /** The last column of its key, and its type. */
  readonly id: string;
  readonly idType: 'uuid' | 'text';
  /** SQL of a row's bytes, of the row `r`. */
  readonly bytes: string;
}

/**
 * How many of these rows, from the first on, a page may have: one at least. Row after row is looked at, each by its key, and none
 * behind the last that fits, so PostgreSQL does not decompress rows that are left out. A deleted row counts as zero bytes.
 */
export async function rowsThatFit(
  database: Pick<DataSource, 'query'>,
  { table, scope, id, idType, bytes }: LargeRows,
  scopeValues: readonly [tenantId: string, ...string[]],
  ids: readonly string[],
): Promise<number> {
  if (ids.length <= 1) return ids.length;
  const idList = `$${scope.length + 1}::${idType}[]`;
  const key = scope.map((column, index) => `r.${column} = $${index + 1}`).join(' AND ');
  const [row]: { fitting: number }[] = await database.query(
    `WITH RECURSIVE page AS (
       SELECT 0 AS place, 0::bigint AS bytes
       UNION ALL
       SELECT p.place + 1, p.bytes + coalesce((
         SELECT ${bytes} FROM ${table} r WHERE ${key} AND r.${id} = (${idList})[p.place + 1] LIMIT 1
       ), 0)
       FROM page p WHERE p.place < cardinality(${idList}) AND p.bytes < $${scope.length + 2}
     )
     SELECT max(place)::integer AS fitting FROM page`,
    [...scopeValues, ids, PAGE_BYTES_MAX],
  );
  return row?.fitting ?? ids.length;
}

/**
 * The page that `found` begins, cut where it weighs too much; one more row than `limit` shows that there is a next page. `nameOf`
 * gives what the table's key calls a row.
 */
export async function pageThatFits<Row>(
  database: Pick<DataSource, 'query'>,
  rows: LargeRows,
  scopeValues: readonly [tenantId: string, ...string[]],
  { found, limit, nameOf, cursorAfter }: FoundRows<Row>,
): Promise<Page<Row>> {
  const page = found.slice(0, limit);
  const fitting = await rowsThatFit(database, rows, scopeValues, page.map(nameOf));
  return pageOf(found, Math.min(limit, fitting), cursorAfter);
}

/** What a list has found, and how it goes on behind a row. */
export interface FoundRows<Row> {
  readonly found: readonly Row[];
  readonly limit: number;
  readonly nameOf: (row: Row) => string;
  readonly cursorAfter: (last: Row) => string;
}
