import { parseTimestamp } from '../../../platform/values/timestamp';
import { decodeCursor, encodeCursor } from '../../../platform/pagination/cursor';
import { notACursor } from '../../../platform/pagination/time-key';
import { PATH_NAME } from '../../../platform/values/text/path-name';
import type { EventTypeDefinition } from './event-type-definition';

/** One immutable version of an event type. */
export interface RegisteredVersion {
  readonly eventType: string;
  readonly version: number;
  readonly definition: EventTypeDefinition;
  readonly createdAt: Date;
}

/** An event type in a list. */
export interface ListedEventType {
  readonly eventType: string;
  readonly createdAt: Date;
  readonly deprecatedAt: Date | null;
  readonly latest: RegisteredVersion;
}

export interface EventTypePage {
  readonly types: readonly ListedEventType[];
  /** Null at the end. */
  readonly nextCursor: string | null;
}

export interface EventTypeHistory {
  readonly eventType: string;
  readonly deprecatedAt: Date | null;
  /** Newest first. */
  readonly versions: readonly RegisteredVersion[];
}

/** The sort key of the list of event types: the time of the first registration, then the name. */
export interface EventTypeKey {
  readonly createdAt: Date;
  readonly eventType: string;
}

/**
 * Decodes a cursor into the key where a page starts. Undefined without a cursor: start at the newest type.
 *
 * Throws `validation_failed` for text that is no cursor.
 */
export function eventTypePageStart(cursor: string | undefined): EventTypeKey | undefined {
  if (cursor === undefined) return undefined;
  const [at = '', eventType = ''] = decodeCursor(cursor, 2) ?? [];
  const time = parseTimestamp(at);
  if ('at' in time && PATH_NAME.test(eventType)) return { createdAt: new Date(time.at), eventType };
  throw notACursor();
}

/** The cursor of the page that follows this type. */
export function cursorAfterEventType({ createdAt, eventType }: EventTypeKey): string {
  return encodeCursor([createdAt.toISOString(), eventType]);
}
