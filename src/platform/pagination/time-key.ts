import { parseTimestamp } from '../values/timestamp';
import type { DomainError } from '../errors/domain-error';
import { formatFault } from '../errors/fault-words';
import { validationFailed } from '../errors/validation-failed';
import { isUuid, MAX_UUID } from '../values/uuid';
import { decodeCursor, encodeCursor } from './cursor';

/** The sort key of lists that come newest first: a time to the millisecond, and the id that orders equal times. */
export interface TimeKey {
  readonly at: Date;
  readonly id: string;
}

/** Sorts after everything that is stored. */
const NEWEST: TimeKey = { at: new Date('9999-12-31T23:59:59.999Z'), id: MAX_UUID };

/** Where a page begins; without a cursor, at the newest row. Throws `validation_failed` for text that is no cursor. */
export function pageStart(cursor: string | undefined): TimeKey {
  if (cursor === undefined) return NEWEST;
  const [at, id] = decodeCursor(cursor, 2) ?? [];
  const time = parseTimestamp(at ?? '');
  if (id !== undefined && isUuid(id) && 'at' in time) return { at: new Date(time.at), id };
  throw notACursor();
}

/** 422 `validation_failed` at `cursor`, for text that is not a cursor of such a list. */
export function notACursor(): DomainError {
  return validationFailed([formatFault('cursor', 'is not a nextCursor of this list with these filters')]);
}

/** The cursor of the page that comes after this row. */
export function cursorAfter({ at, id }: TimeKey): string {
  return encodeCursor([at.toISOString(), id]);
}
