import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, type EntityManager } from 'typeorm';
import type { EventTypeDefinition } from './domain/event-contract';
import type { EventTypeKey } from './domain/event-type-key';
import { EventTypeVersion } from './entities/event-type-version.entity';
import { EventType } from './entities/event-type.entity';

/** A type as lists show it. */
export interface ListedEventType {
  readonly eventType: string;
  readonly createdAt: Date;
  readonly deprecatedAt: Date | null;
  readonly latest: Pick<EventTypeVersion, 'eventType' | 'version' | 'definition' | 'createdAt'>;
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

/** Of the definitions on one page of a list: some have 200 KiB, and 200 of those are no answer. */
const PAGE_CHARACTERS_MAX = 4 * 1024 * 1024;

/** The tables of registered event types. */
@Injectable()
export class EventTypeRepository {
  constructor(private readonly database: DataSource) {}

  find(tenantId: string, eventType: string): Promise<EventType | null> {
    return this.database.manager.findOneBy(EventType, { tenantId, eventType });
  }

  /** The version in force of a type; null when it is not registered. */
  latest(tenantId: string, eventType: string, manager = this.database.manager): Promise<EventTypeVersion | null> {
    return manager.findOne(EventTypeVersion, { where: { tenantId, eventType }, order: { version: 'DESC' } });
  }

  version(tenantId: string, eventType: string, version: number): Promise<EventTypeVersion> {
    return this.database.manager.findOneByOrFail(EventTypeVersion, { tenantId, eventType, version });
  }

  /** Newest first; all of them, or no more than `take`. */
  versions(tenantId: string, eventType: string, take?: number): Promise<EventTypeVersion[]> {
    return this.database.manager.find(EventTypeVersion, {
      where: { tenantId, eventType },
      order: { version: 'DESC' },
      ...(take === undefined ? {} : { take }),
    });
  }

  allVersions(tenantId: string): Promise<EventTypeVersion[]> {
    return this.database.manager.find(EventTypeVersion, { where: { tenantId } });
  }

  /**
   * At most `limit` types before `start`, the newest type first, and whether there are more. Large definitions make it
   * fewer, never none.
   */
  async page(
    tenantId: string,
    start: EventTypeKey | undefined,
    limit: number,
  ): Promise<{ readonly types: readonly ListedEventType[]; readonly hasMore: boolean }> {
    const rows: readonly ListedRow[] = await this.database.query(
      `SELECT * FROM (
         SELECT t.*, v.version, v.definition, v.created_at AS registered_at, count(*) OVER () AS found,
           sum(length(v.definition::text)) OVER (ORDER BY t.created_at DESC, t.event_type DESC)
             - length(v.definition::text) AS characters_before
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
       WHERE characters_before < $3 ORDER BY created_at DESC, event_type DESC`,
      [tenantId, limit + 1, PAGE_CHARACTERS_MAX, ...(start === undefined ? [] : [start.createdAt, start.eventType])],
    );
    const types = rows.slice(0, limit).map(listedEventType);
    return { types, hasMore: Number(rows[0]?.found ?? 0) > types.length };
  }

  /** Makes registrations of one type wait for each other until the transaction ends. */
  async lock(manager: EntityManager, tenantId: string, eventType: string, now: Date): Promise<void> {
    const row = { tenantId, eventType, createdAt: now, deprecatedAt: null };
    await manager.createQueryBuilder().insert().into(EventType).values(row).orIgnore().execute();
    await manager.findOneOrFail(EventType, { where: { tenantId, eventType }, lock: { mode: 'pessimistic_write' } });
  }

  async insertVersion(manager: EntityManager, version: EventTypeVersion): Promise<void> {
    await manager.insert(EventTypeVersion, version);
  }

  /** False when the type is deprecated already, or is none. Of any number of simultaneous callers one gets true. */
  async deprecate(manager: EntityManager, tenantId: string, eventType: string, now: Date): Promise<boolean> {
    const found = { tenantId, eventType, deprecatedAt: IsNull() };
    const { affected } = await manager.update(EventType, found, { deprecatedAt: now });
    return affected === 1;
  }
}

function listedEventType(row: ListedRow): ListedEventType {
  const { event_type: eventType, created_at: createdAt, deprecated_at: deprecatedAt } = row;
  const { version, definition, registered_at: registeredAt } = row;
  return { eventType, createdAt, deprecatedAt, latest: { eventType, version, definition, createdAt: registeredAt } };
}
