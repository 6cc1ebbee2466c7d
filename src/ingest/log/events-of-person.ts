import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../../platform/postgres/connection-settings';
import { queryOf } from '../../platform/postgres/one-workspace';
import type { Statement } from '../../platform/postgres/statement';
import { UnlinkedIdentifiers } from '../../identity/unlinked-identifiers';
import { NIL_UUID } from '../../platform/values/uuid';
import {
  PersonalData,
  type ErasureSteps,
  type Person,
  type PersonalDataKeeper,
  type PersonalRecord,
} from '../../platform/privacy/personal-data';
import { pageStart, type TimeKey } from '../../platform/pagination/time-key';
import { EventViews } from './event-views';
import { Timeline } from './timeline';

const EVENTS_PER_PAGE = 200;
/** Rows of one statement: few enough to hold their locks for milliseconds. */
const EVENTS_PER_STATEMENT = 1_000;

interface LookedAt {
  readonly event_id: string;
  /** When it occurred, with microseconds, which a Date cannot hold. */
  readonly at: string;
  readonly filled: boolean;
}

/** The events of a person, for exports and erasures. An erased event stays as a row without identity and properties. */
@Injectable()
export class EventsOfPerson implements PersonalDataKeeper, OnModuleInit {
  readonly name = 'events';

  constructor(
    private readonly database: DataSource,
    private readonly data: PersonalData,
    private readonly timeline: Timeline,
    private readonly views: EventViews,
    private readonly unlinked: UnlinkedIdentifiers,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {}

  onModuleInit(): void {
    this.data.register(this);
  }

  async *exportOf({ tenantId, profileIds }: Person): AsyncIterable<PersonalRecord> {
    // A participant without events has no profile.
    for (let after: TimeKey | undefined, more = profileIds.length > 0; more;) {
      const request = { span: { order: 'asc', after }, limit: EVENTS_PER_PAGE } as const;
      const { events, nextCursor } = await this.timeline.page(tenantId, profileIds, request);
      for (const data of await this.views.of(tenantId, events, { unmasked: true })) yield { record: 'event', data };
      more = nextCursor !== null;
      if (nextCursor !== null) after = pageStart(nextCursor);
    }
  }

  /** Statement by statement, each a transaction of its own, so that locks are short. */
  async eraseAhead(person: Person, { goOn }: ErasureSteps): Promise<boolean> {
    await this.eraseEvents(this.database.manager, person, goOn);
    return true;
  }

  /** Erases the few events that arrived since. */
  async erase(manager: EntityManager, person: Person): Promise<void> {
    await this.eraseEvents(manager, person);
  }

  private async eraseEvents(
    manager: EntityManager,
    { tenantId, profileIds }: Person,
    beforeEach?: () => Promise<void>,
  ): Promise<void> {
    for (const profileId of profileIds) {
      for (let after: unknown[] = ['-infinity', NIL_UUID]; ;) {
        await beforeEach?.();
        const values = [tenantId, profileId, ...after, EVENTS_PER_STATEMENT];
        const rows: LookedAt[] = await manager.query(READ_EVENTS_TO_ERASE, values);
        const filled = rows.filter((row) => row.filled).map((row) => row.event_id);
        if (filled.length > 0) await manager.transaction((within) => this.eraseThese(within, tenantId, filled));
        const last = rows.at(-1);
        if (last === undefined || rows.length < EVENTS_PER_STATEMENT) break;
        after = [last.at, last.event_id];
      }
    }
  }

  private async eraseThese(manager: EntityManager, tenantId: string, eventIds: readonly string[]): Promise<void> {
    await this.unlinked.forgetEvents(manager, tenantId, eventIds);
    await manager.query(...queryOf(ERASE_EVENTS, [tenantId, eventIds], this.connection));
  }
}

/**
 * The next events of a profile. The text of a time has another name than the time: ORDER BY would take it, and sort all events
 * that follow in an order that differs where clocks are set back, or by the collation.
 */
export const READ_EVENTS_TO_ERASE = `
  SELECT event_id, occurred_at::text AS at, content_hash <> '' OR identity <> '{}' OR properties <> '{}' AS filled
  FROM events
  WHERE tenant_id = $1 AND profile_id = $2 AND occurred_at > '-infinity' AND (occurred_at, event_id) > ($3, $4)
  ORDER BY occurred_at, event_id LIMIT $5`;

/**
 * An empty hash is that of an erased event (see `duplicateResult`), and of one that has lost another person's identifiers. In
 * the order of the ids, as everything that changes several events. Each is found by its key (docs/adr/0092).
 */
export const ERASE_EVENTS: Statement = {
  name: 'ingest_erase_events',
  text: `
    UPDATE events e SET identity = '{}', properties = '{}', content_hash = ''
    FROM (
      SELECT l.* FROM (SELECT event_id FROM unnest($2::uuid[]) AS each (event_id) ORDER BY event_id) u
      CROSS JOIN LATERAL (
        SELECT tenant_id, event_id FROM events WHERE tenant_id = $1::uuid AND event_id = u.event_id LIMIT 1 FOR NO KEY UPDATE
      ) l
      OFFSET 0
    ) locked
    WHERE e.tenant_id = locked.tenant_id AND e.event_id = locked.event_id`,
};
