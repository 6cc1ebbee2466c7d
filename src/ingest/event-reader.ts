import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { TimeSlice } from '../platform/async/time-slice';
import { PAGE_BYTES_MAX } from '../platform/pagination/page-bytes';
import { cursorAfter, type TimeKey } from '../platform/pagination/time-key';
import { eventIdOf } from './domain/event-id';
import type { EventFamily } from './domain/incoming-event';
import type { ProcessingState } from './domain/processing-record';
import { Event } from './entities/event.entity';
import { READ_EVENTS_WITHIN } from './event-page.sql';
import { ProcessingReader } from './processing-reader';

export interface EventFilter {
  readonly source?: string | undefined;
  readonly externalEventId?: string | undefined;
  readonly eventType?: string | undefined;
  readonly family?: EventFamily | undefined;
  readonly state?: ProcessingState | undefined;
}

export interface EventPage {
  readonly events: readonly Event[];
  readonly nextCursor: string | null;
  /** How many rows were looked at, where that ended the page. */
  readonly scanned?: number;
}

/**
 * Rows that one page may look at. A filter that hardly anything fits then costs milliseconds, not a walk through the whole
 * log: the page comes short, and its cursor goes on where it stopped.
 */
export const ROWS_LOOKED_AT_MAX = 20_000;

/** A row that a page has looked at, in the order of the list. */
export interface LookedAt {
  readonly event_id: string;
  /** The time that the list is sorted by. */
  readonly at: Date;
  readonly fits: boolean;
  /** From 1. */
  readonly position: string;
}

/** Finds stored events for people who ask what became of them. */
@Injectable()
export class EventReader {
  constructor(
    private readonly database: DataSource,
    private readonly processing: ProcessingReader,
  ) {}

  find(tenantId: string, eventId: string): Promise<Event | null> {
    return this.database.manager.findOneBy(Event, { tenantId, eventId });
  }

  /** One page, newest first, by the time of receipt. */
  async list(tenantId: string, filter: EventFilter, start: TimeKey, limit: number): Promise<EventPage> {
    const { source, externalEventId } = filter;
    if (source !== undefined && externalEventId !== undefined) return this.findByName(tenantId, filter);
    return this.pageOf(tenantId, await this.lookAt(tenantId, filter, start, limit), limit, ROWS_LOOKED_AT_MAX);
  }

  /**
   * The page out of rows that were looked at: all that fit, one more than `limit` if there are, and in any case the last
   * one that could be looked at, number `rowsMax`, behind which the next page begins. Large events make it shorter.
   */
  async pageOf(tenantId: string, rows: readonly LookedAt[], limit: number, rowsMax: number): Promise<EventPage> {
    const fitting = rows.filter((row) => row.fits);
    const wanted = fitting.slice(0, limit);
    const { events, places } = await this.inOrder(
      tenantId,
      wanted.map((row) => row.event_id),
    );
    const isFull = fitting.length > places;
    const last = isFull ? wanted[places - 1] : rows.find((row) => Number(row.position) === rowsMax);
    if (last === undefined) return { events, nextCursor: null };
    const nextCursor = cursorAfter({ at: last.at, id: last.event_id });
    // All events of a full page may have gone since their ids were read.
    return isFull && events.length > 0
      ? { events, nextCursor }
      : { events, nextCursor, scanned: Number(last.position) };
  }

  /** "Did you get it?": source and id name one event, whatever else is asked of it. */
  private async findByName(tenantId: string, filter: EventFilter): Promise<EventPage> {
    const { source = '', externalEventId = '', eventType, family } = filter;
    const event = await this.find(tenantId, eventIdOf(tenantId, source, externalEventId));
    const fits =
      event !== null &&
      (eventType ?? event.eventType) === event.eventType &&
      (family ?? event.family) === event.family &&
      (await this.isInState(event, filter.state));
    return { events: fits ? [event] : [], nextCursor: null };
  }

  private async isInState(event: Event, wanted: ProcessingState | undefined): Promise<boolean> {
    if (wanted === undefined) return true;
    const found = await this.processing.of(event.tenantId, [event]);
    return (found.get(event.eventId)?.state ?? 'queued') === wanted;
  }

  private lookAt(tenantId: string, filter: EventFilter, start: TimeKey, limit: number): Promise<LookedAt[]> {
    return this.database.query(
      `WITH looked_at AS (
         SELECT event_id, received_at AS at, row_number() OVER () AS position,
           ($4::text IS NULL OR source = $4) AND ($5::text IS NULL OR external_event_id = $5)
             AND ($6::text IS NULL OR event_type = $6) AND ($7::text IS NULL OR family = $7)
             AND ($10::text IS NULL OR coalesce(processing.state, 'queued') = $10) AS fits
         FROM (
           SELECT * FROM events
           WHERE tenant_id = $1 AND (received_at, event_id) < ($2, $3) AND received_at > '-infinity'
           ORDER BY received_at DESC, event_id DESC LIMIT $8
         ) newest
         LEFT JOIN LATERAL (
           SELECT state FROM event_processing
           WHERE $10::text IS NOT NULL AND newest.queue_bundle_id IS NULL
             AND tenant_id = newest.tenant_id AND event_id = newest.event_id
           UNION ALL
           SELECT 'processed'
           WHERE $10::text IS NOT NULL AND newest.queue_bundle_id IS NOT NULL AND NOT EXISTS (
             SELECT FROM queued_bundles WHERE tenant_id = newest.tenant_id AND id = newest.queue_bundle_id
           )
           LIMIT 1
         ) processing ON true
       )
       SELECT * FROM looked_at WHERE fits OR position = $8 ORDER BY position LIMIT $9`,
      [
        tenantId,
        start.at,
        start.id,
        filter.source ?? null,
        filter.externalEventId ?? null,
        filter.eventType ?? null,
        filter.family ?? null,
        ROWS_LOOKED_AT_MAX,
        // One more than the page shows that there is a next one; the last row looked at comes on top.
        limit + 2,
        filter.state ?? null,
      ],
    );
  }

  /** Events by id, in the order of the ids, as long as a page has room for them; `places`: how many of the ids those are. */
  private async inOrder(
    tenantId: string,
    ids: readonly string[],
  ): Promise<{ readonly events: readonly Event[]; readonly places: number }> {
    if (ids.length === 0) return { events: [], places: 0 };
    const rows: readonly EventRow[] = await this.database.query(READ_EVENTS_WITHIN, [tenantId, ids, PAGE_BYTES_MAX]);
    const slice = new TimeSlice();
    const events: Event[] = [];
    for (const { eventId, identity, properties, ...rest } of rows) {
      await slice.pause();
      if (eventId === null) continue;
      events.push({
        ...{ tenantId, eventId, ...rest },
        identity: JSON.parse(identity) as Event['identity'],
        properties: JSON.parse(properties) as Event['properties'],
      });
    }
    return { events, places: rows.length };
  }
}

/** An event as text, which is parsed one by one; without an id it has gone since its id was read. */
interface EventRow extends Omit<Event, 'tenantId' | 'eventId' | 'identity' | 'properties'> {
  readonly eventId: string | null;
  readonly identity: string;
  readonly properties: string;
}
