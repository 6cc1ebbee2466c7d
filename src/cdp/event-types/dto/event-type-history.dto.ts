import type { EventTypeHistory, EventTypePage } from '../event-type-reader';
import { EventTypeDto } from './event-type.dto';

/** An event type as lists show it: its version in force, and whether it is deprecated. */
export class ListedEventTypeDto extends EventTypeDto {
  /** Since when its events leave a warning; null: they do not. */
  deprecatedAt!: Date | null;
}

export class EventTypePageDto {
  items!: ListedEventTypeDto[];

  /** Null at the end. */
  nextCursor!: string | null;

  static of({ types, nextCursor }: EventTypePage): EventTypePageDto {
    return {
      items: types.map(({ latest, deprecatedAt }) => Object.assign(EventTypeDto.of(latest), { deprecatedAt })),
      nextCursor,
    };
  }
}

/** An event type with what it said before. */
export class EventTypeHistoryDto {
  eventType!: string;

  /** Since when its events leave a warning; null: they do not. */
  deprecatedAt!: Date | null;

  /** The newest 100, newest first, fewer where they are large; the first is in force. */
  versions!: EventTypeDto[];

  static of({ eventType, deprecatedAt, versions }: EventTypeHistory): EventTypeHistoryDto {
    return { eventType, deprecatedAt, versions: versions.map((version) => EventTypeDto.of(version)) };
  }
}
