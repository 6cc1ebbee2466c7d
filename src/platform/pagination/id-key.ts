import { isUuid, MAX_UUID } from '../ids/uuid';
import { decodeCursor, encodeCursor } from './cursor';
import { notACursor } from './time-key';

/** One page of a list, and where the next one begins; null at the end. */
export interface IdPage<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor: string | null;
}

/**
 * Below which id a page begins of a list that comes newest first by its UUIDv7 ids; without a cursor, at the newest row.
 * Throws `validation_failed` for text that is no cursor.
 */
export function idPageStart(cursor: string | undefined): string {
  if (cursor === undefined) return MAX_UUID;
  const [id] = decodeCursor(cursor, 1) ?? [];
  if (id === undefined || !isUuid(id)) throw notACursor();
  return id;
}

/** The page out of the rows that were found, of which one more than `limit` shows that there is a next page. */
export function idPage<Row extends { readonly id: string }>(found: readonly Row[], limit: number): IdPage<Row> {
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { rows, nextCursor: last === undefined ? null : encodeCursor([last.id]) };
}
