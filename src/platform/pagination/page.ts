/** One page of a list, and where the next one begins; null at the end. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor: string | null;
}

/**
 * Rows that one page may look at (docs/adr/0012): some 30 ms. A filter that hardly anything fits then costs milliseconds, not
 * a walk through a whole table: the page comes short, and its cursor goes on where it stopped.
 */
export const ROWS_LOOKED_AT_MAX = 20_000;

/**
 * The page out of the rows that were found, of which one more than `limit` shows that there is a next page; `cursorAfter`
 * gives the cursor of the page that comes after a row.
 */
export function pageOf<Row>(found: readonly Row[], limit: number, cursorAfter: (last: Row) => string): Page<Row> {
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { rows, nextCursor: last === undefined ? null : cursorAfter(last) };
}
