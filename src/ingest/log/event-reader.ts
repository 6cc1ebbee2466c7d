import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { TimeSlice } from '../../platform/values/time-slice';
import type { TimeRange } from '../../platform/pagination/time-range';
import { pageOf, ROWS_LOOKED_AT_MAX } from '../../platform/pagination/page';
import { PAGE_BYTES_MAX } from '../../platform/pagination/page-bytes';
import { preparedQuery, preparedReads, type ReadRows } from '../../platform/postgres/prepared-query';
import type { Statement } from '../../platform/postgres/statement';
import { cursorAfter } from '../../platform/pagination/time-key';
import { eventIdOf } from '../domain/deduplication';
import type { ListedEvent } from '../domain/event';
import type { ProcessingState } from '../queue/processing-record';
import { timelineRange, type TimelineSpan } from './timeline-range';
import { FIND_EXPIRED } from '../expiry/event-expiry.sql';
import { EventRow } from '../store/entities/event.entity';
import {
  FILTERED,
  READ_RECEIVED_PAGE,
  READ_SMALL_RECEIVED,
  receivedValues,
  type ReceivedFilter,
} from './event-page.sql';
import { ReceiptWatermark } from './receipt-watermark';
import { ProcessingReader } from '../queue/processing-reader';

/** `from` and `to`: the times of receipt. */
export interface EventFilter extends TimeRange, ReceivedFilter {}

/** In which order events are listed, and behind which one; without `after` from the first one on. */
export type EventListStart = Pick<TimelineSpan, 'order' | 'after'>;

export interface EventPage {
  readonly events: readonly ListedEvent[];
  readonly nextCursor: string | null;
  /** How many rows were looked at, where that ended the page. */
  readonly scanned?: number;
  /** Of a list in the order of receipt: see `ReceiptWatermark`. */
  readonly completeBefore?: Date;
}

/** What reads a page: a statement `withEvents`, and the values of its parameters but for the last two. */
export interface PageRead {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  /** How many rows it may look at. */
  readonly rowsMax: number;
  /** Connections do not keep its plan: it depends on the values, or the statement is rare. */
  readonly isPlannedAnew: boolean;
  /** A cheaper way to read it that is tried first, where no event is filtered out. */
  readonly ifSmall?: SmallPageRead | undefined;
}

/** What reads a page whose events are small: a statement `withSmallEvents`, and the values of its parameters but for the last two. */
interface SmallPageRead {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  /** The time that the list is sorted by. */
  readonly time: 'occurredAt' | 'receivedAt';
}

/** A row that a page has looked at, in the order of the list. */
interface LookedAt {
  readonly id: string;
  /** The time that the list is sorted by. */
  readonly at: Date;
  readonly fits: boolean;
  /** From 1. */
  readonly position: string;
}

/** An event whose documents are text, to be parsed one by one. */
interface EventText extends Omit<ListedEvent, 'identity' | 'properties'> {
  readonly identity: string;
  readonly properties: string;
}

/** A row with its event; without an id the page had no room for the event. */
type RowText = LookedAt & Omit<EventText, 'eventId'> & { readonly eventId: string | null };

/** A row of a page of small events; without properties the event is none. */
type SmallRow = Omit<EventText, 'properties'> & { readonly properties: string | null };

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

  /** To be asked after the event was not found: an expired one is recorded before its row goes. */
  async hasExpired(tenantId: string, eventId: string): Promise<boolean> {
    const rows: unknown[] = await this.database.query(FIND_EXPIRED.text, [tenantId, eventId]);
    return rows.length > 0;
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

  private page(tenantId: string, filter: EventFilter, start: EventListStart, limit: number): Promise<EventPage> {
    const { from, to } = filter;
    const isUnfiltered = filter.state === undefined && FILTERED.every((field) => filter[field] === undefined);
    // Unfiltered, every row fits: one more than the page shows that there is a next one.
    const rowsMax = isUnfiltered ? limit + 1 : ROWS_LOOKED_AT_MAX;
    // One more than the page shows that there is a next one; the last row looked at comes on top.
    const bounds = { lookedAtMax: rowsMax, answeredMax: limit + 2 };
    const values = receivedValues(tenantId, timelineRange({ ...start, from, to }), filter, bounds);
    const ofSmall = {
      statement: READ_SMALL_RECEIVED[start.order],
      values: values.slice(0, 4),
      time: 'receivedAt',
    } as const;
    const read = {
      statement: READ_RECEIVED_PAGE[start.order],
      values,
      rowsMax,
      // A plan that fits every filter, made while a table was small, may read all of it for each of 20,000 rows.
      isPlannedAnew: !isUnfiltered,
      ifSmall: isUnfiltered ? ofSmall : undefined,
    };
    return this.pageOf(read, limit);
  }

  /**
   * The page out of rows that are looked at: all that fit, one more than `limit` if there are, and in any case the last
   * one that could be looked at, number `rowsMax`, behind which the next page begins. Large events make it shorter.
   * `readRows`: the connection on which the caller reads something else in the same round trip.
   */
  async pageOf(read: PageRead, limit: number, readRows?: ReadRows): Promise<EventPage> {
    const run = read.isPlannedAnew || readRows === undefined ? this.runs(read) : readRows;
    const small = read.ifSmall === undefined ? undefined : await smallPage(read.ifSmall, limit, run);
    return small ?? pageLookedAt(read, limit, run);
  }

  /** Runs statements on a connection of their own. */
  private runs({ isPlannedAnew }: PageRead): ReadRows {
    if (isPlannedAnew) return ({ text }, values) => this.database.query(text, [...values]);
    return (statement, values) => preparedQuery(this.database, statement, values);
  }

  /** Source and id name one event; the other filters may still leave it out. */
  private async findByName(tenantId: string, filter: EventFilter): Promise<EventPage> {
    const { source = '', externalEventId = '', from = -Infinity, to = Infinity } = filter;
    const event = await this.find(tenantId, eventIdOf(tenantId, source, externalEventId));
    const fits =
      event !== null &&
      FILTERED.every((field) => (filter[field] ?? event[field]) === event[field]) &&
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
}

/** The page, unless one of its events is large. */
async function smallPage(
  { statement, values, time }: SmallPageRead,
  limit: number,
  run: ReadRows,
): Promise<EventPage | undefined> {
  const rowsMax = limit + 1;
  const rows = await run<SmallRow>(statement, [...values, rowsMax, Math.floor(PAGE_BYTES_MAX / rowsMax)]);
  const small = rows.filter(isSmall);
  if (small.length < rows.length) return undefined;
  const page = pageOf(small, limit, (last) => cursorAfter({ at: last[time], id: last.eventId }));
  return { events: await eventsOf(page.rows), nextCursor: page.nextCursor };
}

function isSmall(row: SmallRow): row is EventText {
  return row.properties !== null;
}

/** The page, of events of any size, filtered or not. */
async function pageLookedAt(
  { statement, values, rowsMax }: PageRead,
  limit: number,
  run: ReadRows,
): Promise<EventPage> {
  const rows = await run<RowText>(statement, [...values, limit, PAGE_BYTES_MAX]);
  const fitting = rows.filter((row) => row.fits);
  const events = await eventsOf(fitting);
  const isFull = fitting.length > events.length;
  const last = isFull ? fitting[events.length - 1] : rows.find((row) => Number(row.position) === rowsMax);
  if (last === undefined) return { events, nextCursor: null };
  const nextCursor = cursorAfter(last);
  return isFull ? { events, nextCursor } : { events, nextCursor, scanned: Number(last.position) };
}

/** The events that the page had room for. */
async function eventsOf(rows: readonly (EventText | RowText)[]): Promise<ListedEvent[]> {
  const slice = new TimeSlice();
  const events: ListedEvent[] = [];
  for (const row of rows) {
    if (row.eventId === null) break;
    await slice.pause();
    const identity = JSON.parse(row.identity) as ListedEvent['identity'];
    const properties = JSON.parse(row.properties) as ListedEvent['properties'];
    events.push({ ...row, eventId: row.eventId, identity, properties });
  }
  return events;
}
