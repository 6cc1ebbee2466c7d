import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, type EntityManager } from 'typeorm';
import { PAGE_BYTES_MAX } from '../../platform/pagination/page-bytes';
import type { EventTypeDefinition } from './domain/event-type-definition';
import type { EventTypeKey, ListedEventType } from './domain/event-type-page';
import { EventTypeVersion } from './entities/event-type-version.entity';
import { EventType } from './entities/event-type.entity';

/** A property that an event type declares `pii: true`; null stands for none. */
export interface PersonalProperty {
  readonly eventType: string;
  readonly name: string | null;
}

interface ListedRow {
  readonly event_type: string;
  readonly created_at: Date;
  readonly deprecated_at: Date | null;
  readonly version: number;
  readonly definition: EventTypeDefinition;
  readonly registered_at: Date;
  readonly found: string;
}

/** The tables of registered event types. */
@Injectable()
export class EventTypeRepository {
  constructor(private readonly database: DataSource) {}

  find(tenantId: string, eventType: string): Promise<EventType | null> {
    return this.database.manager.findOneBy(EventType, { tenantId, eventType });
  }

  /** At most `limit` types with names after `name`, by name, each with its current version. */
  async after(manager: EntityManager, tenantId: string, name: string, limit: number): Promise<ListedEventType[]> {
    const rows: readonly Omit<ListedRow, 'found'>[] = await manager.query(
      `SELECT t.event_type, t.created_at, t.deprecated_at, v.version, v.definition, v.created_at AS registered_at
       FROM event_types t
       CROSS JOIN LATERAL (
         SELECT version, definition, created_at FROM event_type_versions
         WHERE tenant_id = $1 AND event_type = t.event_type ORDER BY version DESC LIMIT 1
       ) v
       WHERE t.tenant_id = $1 AND t.event_type > $2 ORDER BY t.event_type LIMIT $3`,
      [tenantId, name, limit],
    );
    return rows.map(listedEventType);
  }

  /** The current version of a type; null if the type is not registered. */
  latest(tenantId: string, eventType: string, manager = this.database.manager): Promise<EventTypeVersion | null> {
    return manager.findOne(EventTypeVersion, { where: { tenantId, eventType }, order: { version: 'DESC' } });
  }

  version(tenantId: string, eventType: string, version: number): Promise<EventTypeVersion> {
    return this.database.manager.findOneByOrFail(EventTypeVersion, { tenantId, eventType, version });
  }

  /** At most `limit` names of registered types, newest first. */
  async newestNames(tenantId: string, limit: number): Promise<string[]> {
    const rows: readonly { event_type: string }[] = await this.database.query(
      `SELECT event_type FROM event_types WHERE tenant_id = $1 AND created_at > '-infinity'
       ORDER BY created_at DESC, event_type DESC LIMIT $2`,
      [tenantId, limit],
    );
    return rows.map(({ event_type: eventType }) => eventType);
  }

  /**
   * At most `limit` versions, newest first. Returns fewer if their definitions exceed `PAGE_BYTES_MAX` together, but at
   * least one.
   */
  async versions(tenantId: string, eventType: string, limit: number): Promise<EventTypeVersion[]> {
    const fitting: readonly { version: number }[] = await this.database.query(
      `SELECT version FROM (
         SELECT version, sum(octet_length(definition::text)) OVER (ORDER BY version DESC)
           - octet_length(definition::text) AS bytes_before
         FROM (
           SELECT version, definition FROM event_type_versions
           WHERE tenant_id = $1 AND event_type = $2 ORDER BY version DESC LIMIT $3
         ) newest
       ) listed
       WHERE bytes_before < $4`,
      [tenantId, eventType, limit, PAGE_BYTES_MAX],
    );
    return this.database.manager.find(EventTypeVersion, {
      where: { tenantId, eventType, version: In(fitting.map(({ version }) => version)) },
      order: { version: 'DESC' },
    });
  }

  /**
   * The properties that any version of these types declares as personal data. Without `eventTypes`: those of all types
   * of the workspace. A registered type without any has a row, too. The query returns names only, because a definition
   * may have 200 KiB.
   */
  personalProperties(tenantId: string, eventTypes?: readonly string[]): Promise<readonly PersonalProperty[]> {
    return this.database.query(
      `SELECT DISTINCT v.event_type AS "eventType", name
       FROM event_type_versions v LEFT JOIN LATERAL unnest(coalesce(v.personal_properties, (
         SELECT array_agg(p.key) FROM json_each(v.definition -> 'properties') AS p WHERE p.value ->> 'pii' = 'true'
       ))) AS name ON true
       WHERE v.tenant_id = $1 AND ($2::text[] IS NULL OR v.event_type = ANY ($2))`,
      [tenantId, eventTypes ?? null],
    );
  }

  /**
   * At most `limit` types after `start`, newest first, and whether there are more. Returns fewer if their definitions
   * exceed `PAGE_BYTES_MAX` together, but at least one.
   */
  async page(
    tenantId: string,
    start: EventTypeKey | undefined,
    limit: number,
  ): Promise<{ readonly types: readonly ListedEventType[]; readonly hasMore: boolean }> {
    const rows: readonly ListedRow[] = await this.database.query(
      `SELECT * FROM (
         SELECT t.*, v.version, v.definition, v.created_at AS registered_at, count(*) OVER () AS found,
           sum(octet_length(v.definition::text)) OVER (ORDER BY t.created_at DESC, t.event_type DESC)
             - octet_length(v.definition::text) AS bytes_before
         FROM (
           SELECT event_type, created_at, deprecated_at FROM event_types
           WHERE tenant_id = $1 AND created_at > '-infinity' ${start === undefined ? '' : 'AND (created_at, event_type) < ($4, $5)'}
           ORDER BY created_at DESC, event_type DESC LIMIT $2
         ) t
         CROSS JOIN LATERAL (
           SELECT version, definition, created_at FROM event_type_versions
           WHERE tenant_id = $1 AND event_type = t.event_type ORDER BY version DESC LIMIT 1
         ) v
       ) listed
       WHERE bytes_before < $3 ORDER BY created_at DESC, event_type DESC`,
      [tenantId, limit + 1, PAGE_BYTES_MAX, ...(start === undefined ? [] : [start.createdAt, start.eventType])],
    );
    const types = rows.slice(0, limit).map(listedEventType);
    return { types, hasMore: Number(rows[0]?.found ?? 0) > types.length };
  }

  /**
   * Serialises registrations of one type: locks the type's row until the transaction ends. Creates the row if needed.
   */
  async lock(manager: EntityManager, tenantId: string, eventType: string, now: Date): Promise<void> {
    const row = { tenantId, eventType, createdAt: now, deprecatedAt: null };
    await manager.createQueryBuilder().insert().into(EventType).values(row).orIgnore().execute();
    await manager.findOneOrFail(EventType, { where: { tenantId, eventType }, lock: { mode: 'pessimistic_write' } });
  }

  async insertVersion(manager: EntityManager, version: EventTypeVersion): Promise<void> {
    await manager.insert(EventTypeVersion, version);
  }

  /**
   * Returns false if the type is deprecated already or is not registered. Of several concurrent callers one gets true.
   */
  async deprecate(manager: EntityManager, tenantId: string, eventType: string, now: Date): Promise<boolean> {
    const found = { tenantId, eventType, deprecatedAt: IsNull() };
    const { affected } = await manager.update(EventType, found, { deprecatedAt: now });
    return affected === 1;
  }
}

function listedEventType(row: Omit<ListedRow, 'found'>): ListedEventType {
  const { event_type: eventType, created_at: createdAt, deprecated_at: deprecatedAt } = row;
  const { version, definition, registered_at: registeredAt } = row;
  return { eventType, createdAt, deprecatedAt, latest: { eventType, version, definition, createdAt: registeredAt } };
}
