import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ROWS_LOOKED_AT_MAX } from '../../platform/pagination/page';
import type { ReadRows } from '../../platform/postgres/prepared-query';
import { timelineRange, type TimelineSpan } from './timeline-range';
import { EventReader, type EventPage, type PageRead } from './event-reader';
import { KEPT_PROFILES_MAX, READ_EXTENTS, readTimelinePage } from './timeline.sql';

/** Which page of a timeline is asked for. */
export interface TimelineRequest {
  readonly span: TimelineSpan;
  readonly source?: string | undefined;
  readonly eventType?: string | undefined;
  readonly limit: number;
}

/** The size of a timeline; without events the times are null. */
export interface TimelineExtent {
  readonly firstAt: Date | null;
  readonly lastAt: Date | null;
  readonly events: number;
  /** Events that have expired. */
  readonly expired: number;
}

interface ExtentRow {
  readonly first_at: Date | null;
  readonly last_at: Date | null;
  readonly events: string;
  readonly expired: string;
}

const NO_EVENTS: TimelineExtent = { firstAt: null, lastAt: null, events: 0, expired: 0 };

/** Events that are counted for a page of customers: some 20 ms of reading an index. */
const EVENTS_COUNTED_MAX = 100_000;

/** The events of a customer in the order in which they occurred (contract section 5). */
@Injectable()
export class Timeline {
  constructor(
    private readonly database: DataSource,
    private readonly events: EventReader,
  ) {}

  /** `profileIds`: every profile of the customer; at least one. */
  async extent(tenantId: string, profileIds: readonly string[]): Promise<TimelineExtent> {
    const [extent = NO_EVENTS] = await this.extents(tenantId, [profileIds]);
    return extent;
  }

  /**
   * The same of several customers in one statement: of the first in any case, and of those behind it until 100,000 events are
   * counted.
   */
  async extents(tenantId: string, customers: readonly (readonly string[])[]): Promise<TimelineExtent[]> {
    if (customers.length === 0) return [];
    const rows: ExtentRow[] = await this.database.query(READ_EXTENTS, [
      ...[tenantId, JSON.stringify(customers), EVENTS_COUNTED_MAX],
    ]);
    return rows.map((row) => ({
      firstAt: row.first_at,
      lastAt: row.last_at,
      events: Number(row.events),
      expired: Number(row.expired),
    }));
  }

  /** The ids, of these, whose events belong to these profiles. */
  async own(
    manager: EntityManager,
    tenantId: string,
    profileIds: readonly string[],
    eventIds: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const rows: { event_id: string }[] = await manager.query(
      'SELECT event_id FROM events WHERE tenant_id = $1 AND event_id = ANY($2) AND profile_id = ANY($3)',
      [tenantId, eventIds, profileIds],
    );
    return new Set(rows.map((row) => row.event_id));
  }

  /** Whether a page for these profiles can be read together with something else. */
  sharesRoundTrip(profileIds: readonly string[]): boolean {
    return profileIds.length <= KEPT_PROFILES_MAX;
  }

  /**
   * One page. Filters look at a bounded number of rows: such a page may come short, and its cursor goes on (docs/adr/0012).
   * `read`: in the round trip of other reads, if `sharesRoundTrip`.
   */
  page(
    tenantId: string,
    profileIds: readonly string[],
    { span, source, eventType, limit }: TimelineRequest,
    read?: ReadRows,
  ): Promise<EventPage> {
    const { startAt, startId, end } = timelineRange(span);
    const key = [tenantId, startAt, startId, end];
    const isUnfiltered = source === undefined && eventType === undefined;
    // One more than the page shows that there is a next one.
    const rowsMax = isUnfiltered ? limit + 1 : ROWS_LOOKED_AT_MAX;
    const values = [...key, source ?? null, eventType ?? null, rowsMax, limit + 1, ...profileIds];
    const { statement, ofSmall, isPlannedAnew } = readTimelinePage(span.order, profileIds.length);
    const page: PageRead = {
      statement,
      values,
      rowsMax,
      isPlannedAnew,
      ifSmall: isUnfiltered ? { statement: ofSmall, values: [...key, ...profileIds], time: 'occurredAt' } : undefined,
    };
    return this.events.pageOf(page, limit, read);
  }
}
