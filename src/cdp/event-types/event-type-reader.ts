import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { EventTypeCatalog, type CatalogedEventType } from '../../ingest/event-type-catalog';
import { DomainError } from '../../platform/errors/domain-error';
import {
  cursorAfterEventType,
  eventTypePageStart,
  type EventTypeHistory,
  type EventTypePage,
  type ListedEventType,
} from './domain/event-type-page';
import { toJsonSchema, type EventTypeSchema } from './domain/event-type-schema';
import { EventTypeRepository } from './event-type.repository';

/** Some deployments register a type again each time; the oldest of its versions are of no use to a reader. */
const VERSIONS_SHOWN_MAX = 100;
/** The catalog suggests names; for a workspace with more types the newest ones suffice. */
const CATALOG_NAMES_MAX = 1_000;

/**
 * Reads registered event types, for the API (contract section 4) and for features that ask `EventTypeCatalog`. It
 * always asks the database, so that the answer includes what other nodes have just registered.
 */
@Injectable()
export class EventTypeReader implements OnModuleInit {
  constructor(
    private readonly types: EventTypeRepository,
    private readonly catalog: EventTypeCatalog,
    private readonly database: DataSource,
  ) {}

  onModuleInit(): void {
    this.catalog.answerWith({
      find: (tenantId, eventType) => this.findLatest(tenantId, eventType),
      names: (tenantId) => this.types.newestNames(tenantId, CATALOG_NAMES_MAX),
    });
  }

  /**
   * One page, newest first by the time of the first registration. Throws `validation_failed` for text that is no
   * cursor.
   */
  async list(tenantId: string, cursor: string | undefined, limit: number): Promise<EventTypePage> {
    const { types, hasMore } = await this.types.page(tenantId, eventTypePageStart(cursor), limit);
    const last = hasMore ? types.at(-1) : undefined;
    return { types, nextCursor: last === undefined ? null : cursorAfterEventType(last) };
  }

  /** At most `limit` types with names after `name`, by name, each with its current version. In a transaction if one is given. */
  after(
    tenantId: string,
    name: string,
    limit: number,
    manager: EntityManager = this.database.manager,
  ): Promise<readonly ListedEventType[]> {
    return this.types.after(manager, tenantId, name, limit);
  }

  /** A type with its newest versions: at most 100, and fewer if they exceed half a megabyte. Throws `not_found`. */
  async get(tenantId: string, eventType: string): Promise<EventTypeHistory> {
    const type = await this.types.find(tenantId, eventType);
    if (type === null) throw noSuchEventType();
    const versions = await this.types.versions(tenantId, eventType, VERSIONS_SHOWN_MAX);
    return { eventType, deprecatedAt: type.deprecatedAt, versions };
  }

  /** The JSON Schema of the current version. Throws `not_found`. */
  async jsonSchema(tenantId: string, eventType: string): Promise<EventTypeSchema> {
    const latest = await this.types.latest(tenantId, eventType);
    if (latest === null) throw noSuchEventType();
    return toJsonSchema(latest.definition);
  }

  private async findLatest(tenantId: string, eventType: string): Promise<CatalogedEventType | undefined> {
    const latest = await this.types.latest(tenantId, eventType);
    if (latest === null) return undefined;
    const { version, definition } = latest;
    return {
      version,
      properties: Object.keys(definition.properties),
      allowsOthers: definition.additionalProperties === 'allow',
    };
  }
}

function noSuchEventType(): DomainError {
  return new DomainError('not_found', 'There is no event type with this name in this workspace.');
}
