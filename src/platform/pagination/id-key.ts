import { isUuid, MAX_UUID } from '../values/uuid';
import { decodeCursor, encodeCursor } from './cursor';
import { pageOf, type Page } from './page';
import { notACursor } from './time-key';

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

/** The page of such a list: see `pageOf`. */
export function idPage<Row extends { readonly id: string }>(found: readonly Row[], limit: number): Page<Row> {
  return pageOf(found, limit, ({ id }) => cursorAfterId(id));
}

/** A row that a page of such a list has looked at: from 1 on, which one it was, and whether it is the first of the next page. */
export interface LookedAtRow {
  readonly id: string;
  readonly isNext: boolean;
  readonly looked: number;
}

/** Behind the last row that is shown where another follows, else behind the last one that a page may look at; null at the end. */
export function cursorAfterLookedAt(
  rows: readonly LookedAtRow[],
  lastShown: LookedAtRow | undefined,
  lookedMax: number,
): string | null {
  const last = rows.at(-1);
  if (last === undefined) return null;
  if (last.isNext) return cursorAfterId((lastShown ?? last).id);
  return last.looked === lookedMax ? cursorAfterId(last.id) : null;
}

/** The cursor of the page that comes below this id. */
export function cursorAfterId(id: string): string {
  return encodeCursor([id]);
}
