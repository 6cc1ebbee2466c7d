import { parseTimestamp } from '../../../platform/values/timestamp';
import { decodeCursor, encodeCursor } from '../../../platform/pagination/cursor';
import { notACursor } from '../../../platform/pagination/time-key';
import { PATH_NAME } from '../../../platform/values/text/path-name';

/** By which the list of event types is sorted: when a type was first registered, and its name among those of one moment. */
export interface EventTypeKey {
  readonly createdAt: Date;
  readonly eventType: string;
}

/** Where a page of event types begins; without a cursor, at the newest. Throws `validation_failed` for text that is no cursor. */
export function eventTypePageStart(cursor: string | undefined): EventTypeKey | undefined {
  if (cursor === undefined) return undefined;
  const [at = '', eventType = ''] = decodeCursor(cursor, 2) ?? [];
  const time = parseTimestamp(at);
  if ('at' in time && PATH_NAME.test(eventType)) return { createdAt: new Date(time.at), eventType };
  throw notACursor();
}

/** The cursor of the page that comes after this type. */
export function cursorAfterEventType({ createdAt, eventType }: EventTypeKey): string {
  return encodeCursor([createdAt.toISOString(), eventType]);
}
