import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { EventTypeVersion } from './entities/event-type-version.entity';
import { EventType } from './entities/event-type.entity';

/** The tables of registered event types. */
@Injectable()
export class EventTypeRepository {
  constructor(private readonly database: DataSource) {}

  /** The version in force of a type; null when it is not registered. */
  latest(tenantId: string, eventType: string, manager = this.database.manager): Promise<EventTypeVersion | null> {
    return manager.findOne(EventTypeVersion, { where: { tenantId, eventType }, order: { version: 'DESC' } });
  }

  versions(tenantId: string, eventType: string): Promise<EventTypeVersion[]> {
    return this.database.manager.find(EventTypeVersion, { where: { tenantId, eventType }, order: { version: 'DESC' } });
  }

  allVersions(tenantId: string): Promise<EventTypeVersion[]> {
    return this.database.manager.find(EventTypeVersion, { where: { tenantId } });
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
}
