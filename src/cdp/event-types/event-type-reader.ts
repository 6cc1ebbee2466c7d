import { Injectable } from '@nestjs/common';
import { DomainError } from '../../platform/errors/domain-error';
import { cursorAfterEventType, eventTypePageStart } from './domain/event-type-key';
import { toJsonSchema, type EventTypeSchema } from './domain/event-type-schema';
import type { EventTypeVersion } from './entities/event-type-version.entity';
import { EventTypeRepository, type ListedEventType } from './event-type.repository';

export interface EventTypeHistory {
  readonly eventType: string;
  readonly deprecatedAt: Date | null;
  /** Newest first. */
  readonly versions: readonly EventTypeVersion[];
}

export interface EventTypePage {
  readonly types: readonly ListedEventType[];
  readonly nextCursor: string | null;
}

/** Of a type that is registered anew with every deployment nobody reads the first hundreds. */
const VERSIONS_SHOWN_MAX = 100;

/** Finds registered event types for people and senders (contract section 4). */
@Injectable()
export class EventTypeReader {
  constructor(private readonly types: EventTypeRepository) {}

  /** One page, newest first by the first registration of the type. */
  async list(tenantId: string, cursor: string | undefined, limit: number): Promise<EventTypePage> {
    const { types, hasMore } = await this.types.page(tenantId, eventTypePageStart(cursor), limit);
    const last = hasMore ? types.at(-1) : undefined;
    return { types, nextCursor: last === undefined ? null : cursorAfterEventType(last) };
  }

  /** A type with its newest versions: 100, or as many as weigh half a megabyte. Throws `not_found`. */
  async get(tenantId: string, eventType: string): Promise<EventTypeHistory> {
    const type = await this.types.find(tenantId, eventType);
    if (type === null) throw noSuchEventType();
    const versions = await this.types.versions(tenantId, eventType, VERSIONS_SHOWN_MAX);
    return { eventType, deprecatedAt: type.deprecatedAt, versions };
  }

  /** Of the version in force. Throws `not_found`. */
  async jsonSchema(tenantId: string, eventType: string): Promise<EventTypeSchema> {
    const latest = await this.types.latest(tenantId, eventType);
    if (latest === null) throw noSuchEventType();
    return toJsonSchema(latest.definition);
  }
}

function noSuchEventType(): DomainError {
  return new DomainError('not_found', 'There is no event type of this name in this workspace.');
}
