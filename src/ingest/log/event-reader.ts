import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { TimeSlice } from '../../platform/values/time-slice';
import type { TimeRange } from '../../platform/pagination/time-range';
import { PAGE_BYTES_MAX } from '../../platform/pagination/page-bytes';
import { preparedQuery, preparedReads } from '../../platform/postgres/prepared-query';
import { cursorAfter } from '../../platform/pagination/time-key';
import { eventIdOf } from '../domain/deduplication';
import type { EventFamily } from '../domain/submission';
import type { ProcessingState } from '../queue/processing-record';
import { timelineRange, type TimelineSpan } from './timeline-range';
import { EventRow } from '../store/entities/event.entity';
import { READ_EVENTS_WITHIN, READ_RECEIVED_EVENTS } from './event-page.sql';
import { ReceiptWatermark } from './receipt-watermark';
import { ProcessingReader } from '../queue/processing-reader';

/** `from` and `to`: the times of receipt. */
export interface EventFilter extends TimeRange {
  readonly source?: string | undefined;
  readonly externalEventId?: string | undefined;
  readonly eventType?: string | undefined;
  readonly family?: EventFamily | undefined;
  readonly state?: ProcessingState | undefined;
}

/** In which order events are listed, and behind which one; without `after` from the first one on. */
export type EventListStart = Pick<TimelineSpan, 'order' | 'after'>;

export interface EventPage {
  readonly events: readonly EventRow[];
  readonly nextCursor: string | null;
  /** How many rows were looked at, where that ended the page. */
  readonly scanned?: number;
  /** Of a list in the order of receipt: see `ReceiptWatermark`. */
  readonly completeBefore?: Date;
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
    private readonly watermark: ReceiptWatermark,
  ) {}

  find(tenantId: string, eventId: string): Promise<EventRow | null> {
    return this.database.manager.findOneBy(EventRow, { tenantId, eventId });
  }

  /**
   * One page by the time of receipt. Ascending, the list ends at `completeBefore`: what follows it may still be overtaken by
   * events that are being committed.
   */
  async list(tenantId: string, filter: EventFilter, start: EventListStart, limit: number): Promise<EventPage> {
    const { source, externalEventId } = filter;
    if (source !== undefined && externalEventId !== undefined) return this.findByName(tenantId, filter);
    if (start.order === 'desc') return this.page(tenantId, filter, start, limit);
    const completeBefore = await this.watermark.read(tenantId);
    const to = Math.min(filter.to ?? Infinity, completeBefore.getTime());
    return { ...(await this.page(tenantId, { ...filter, to }, start, limit)), completeBefore };
  }

  private async page(tenantId: string, filter: EventFilter, start: EventListStart, limit: number): Promise<EventPage> {
    const { source, externalEventId, eventType, family, state } = filter;
    // Every row fits then: one more than the page shows that there is a next one.
    const isUnfiltered = [source, externalEventId, eventType, family, state].every((field) => field === undefined);
    const rowsMax = isUnfiltered ? limit + 1 : ROWS_LOOKED_AT_MAX;
    const rows = await this.lookAt(tenantId, filter, start, limit, rowsMax);
    return this.pageOf(tenantId, rows, limit, rowsMax);
  }

  /**
   * The page out of rows that were looked at: all that fit, one more than `limit` if there are, and in any case the last
   * one that could be looked at, number `rowsMax`, behind which the next page begins. Large events make it shorter.
   */
  async pageOf(tenantId: string, rows: readonly LookedAt[], limit: number, rowsMax: number): Promise<EventPage> {
    const fitting = rows.filter((row) => row.fits);
    const shown = fitting.slice(0, limit);
    const { events, read } = await this.inOrder(
      tenantId,
      shown.map((row) => row.event_id),
    );
    const isFull = fitting.length > read;
    const last = isFull ? shown[read - 1] : rows.find((row) => Number(row.position) === rowsMax);
    if (last === undefined) return { events, nextCursor: null };
    const nextCursor = cursorAfter({ at: last.at, id: last.event_id });
    // All events of a full page may have gone since their ids were read.
    return isFull && events.length > 0
      ? { events, nextCursor }
      : { events, nextCursor, scanned: Number(last.position) };
  }

  /** Source and id name one event; the other filters may still leave it out. */
  private async findByName(tenantId: string, filter: EventFilter): Promise<EventPage> {
    const { source = '', externalEventId = '', eventType, family, from = -Infinity, to = Infinity } = filter;
    const event = await this.find(tenantId, eventIdOf(tenantId, source, externalEventId));
    const fits =
      event !== null &&
      (eventType ?? event.eventType) === event.eventType &&
      (family ?? event.family) === event.family &&
      event.receivedAt.getTime() >= from &&
      event.receivedAt.getTime() < to &&
      (await this.isInState(event, filter.state));
    return { events: fits ? [event] : [], nextCursor: null };
  }

  private async isInState(event: EventRow, state: ProcessingState | undefined): Promise<boolean> {
    if (state === undefined) return true;
    const found = await preparedReads(this.database, (read) => this.processing.of(read, event.tenantId, [event]));
    return (found.get(event.eventId)?.state ?? 'queued') === state;
  }

  private lookAt(
    tenantId: string,
    { from, to, ...filter }: EventFilter,
    { order, after }: EventListStart,
    limit: number,
    rowsMax: number,
  ): Promise<LookedAt[]> {
    const { startAt, startId, end } = timelineRange({ order, from, to, after });
    const { source = null, externalEventId = null, eventType = null, family = null, state = null } = filter;
    return this.database.query(READ_RECEIVED_EVENTS[order], [
      ...[tenantId, startAt, startId, source, externalEventId, eventType, family, rowsMax],
      // One more than the page shows that there is a next one; the last row looked at comes on top.
      ...[limit + 2, state, end],
    ]);
  }

  /** Events by id, in the order of the ids, as long as a page has room for them; `read`: how many of the ids were read. */
  private async inOrder(
    tenantId: string,
    ids: readonly string[],
  ): Promise<{ readonly events: readonly EventRow[]; readonly read: number }> {
    if (ids.length === 0) return { events: [], read: 0 };
    const values = [tenantId, ids, PAGE_BYTES_MAX];
    const rows = await preparedQuery<EventText>(this.database, READ_EVENTS_WITHIN, values);
    const slice = new TimeSlice();
    const events: EventRow[] = [];
    for (const { eventId, identity, properties, ...rest } of rows) {
      await slice.pause();
      if (eventId === null) continue;
      events.push({
        ...rest,
        tenantId,
        eventId,
        identity: JSON.parse(identity) as EventRow['identity'],
        properties: JSON.parse(properties) as EventRow['properties'],
      });
    }
    return { events, read: rows.length };
  }
}

/** A row whose documents are text, to be parsed one by one; without an id the event has gone since its id was read. */
interface EventText extends Omit<EventRow, 'tenantId' | 'eventId' | 'identity' | 'properties'> {
  readonly eventId: string | null;
  readonly identity: string;
  readonly properties: string;
}
