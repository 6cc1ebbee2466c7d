import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import {
  PersonalData,
  type Person,
  type PersonalDataKeeper,
  type PersonalRecord,
} from '../platform/personal-data/personal-data';
import { pageStart, type TimeKey } from '../platform/pagination/time-key';
import { EventViews } from './event-views';
import { Timeline } from './timeline';

const EVENTS_PER_PAGE = 200;
/** Rows of one statement: few enough to hold their locks for milliseconds. */
const EVENTS_PER_STATEMENT = 1_000;

interface ErasedRow {
  readonly event_id: string;
  readonly occurred_at: Date;
}

/** What the event log keeps of persons. An erased event stays, as the key that it is and as a fact about nobody. */
@Injectable()
export class EventsOfPerson implements PersonalDataKeeper, OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly data: PersonalData,
    private readonly timeline: Timeline,
    private readonly views: EventViews,
  ) {}

  onModuleInit(): void {
    this.data.register(this);
  }

  async *exportOf({ tenantId, profileIds }: Person): AsyncIterable<PersonalRecord> {
    for (let after: TimeKey | undefined, more = true; more;) {
      const span = { order: 'asc', after } as const;
      const { events, nextCursor } = await this.timeline.page(tenantId, profileIds, span, {}, EVENTS_PER_PAGE);
      for (const data of await this.views.of(tenantId, events, { unmasked: true })) yield { record: 'event', data };
      more = nextCursor !== null;
      if (nextCursor !== null) after = pageStart(nextCursor);
    }
  }

  async eraseAhead({ tenantId, profileIds }: Person): Promise<void> {
    for (const profileId of profileIds) {
      for (let after: unknown[] = ['-infinity', '00000000-0000-0000-0000-000000000000']; ;) {
        const rows: ErasedRow[] = await this.database.query(
          `SELECT event_id, occurred_at FROM events
           WHERE tenant_id = $1 AND profile_id = $2 AND occurred_at > '-infinity' AND (occurred_at, event_id) > ($3, $4)
           ORDER BY occurred_at, event_id LIMIT $5`,
          [tenantId, profileId, ...after, EVENTS_PER_STATEMENT],
        );
        await this.eraseEvents(tenantId, rows);
        const last = rows.at(-1);
        if (last === undefined || rows.length < EVENTS_PER_STATEMENT) break;
        after = [last.occurred_at, last.event_id];
      }
    }
  }

  async erase(manager: EntityManager, { tenantId, profileIds }: Person): Promise<void> {
    await manager.query(
      `UPDATE events SET identity = '{}', properties = '{}', content_hash = ''
       WHERE tenant_id = $1 AND profile_id = ANY($2) AND occurred_at > '-infinity' AND content_hash <> ''`,
      [tenantId, profileIds],
    );
  }

  private async eraseEvents(tenantId: string, events: readonly ErasedRow[]): Promise<void> {
    if (events.length === 0) return;
    await this.database.query(
      `UPDATE events SET identity = '{}', properties = '{}', content_hash = ''
       WHERE tenant_id = $1 AND event_id = ANY($2) AND content_hash <> ''`,
      [tenantId, events.map((event) => event.event_id)],
    );
  }
}
