import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../platform/values/clock';
import { InvalidationFeed, type InvalidationSubject } from '../../platform/invalidation/invalidation-feed';
import { InvalidatingCache, type CacheableRead } from '../../platform/invalidation/invalidating-cache';
import {
  PersonalProperties,
  type PersonalNamesByType as NamesByType,
} from '../../platform/privacy/personal-properties';
import { EventTypeRepository } from './event-type.repository';

const EVENT_TYPES_MAX = 1_000;
/** The id for all event types of a workspace. No type can have this name. */
const ALL = '*';

/** The subject that a new version with personal properties invalidates, for all types of the workspace together. */
export function allEventTypes(tenantId: string): InvalidationSubject {
  return { tenantId, kind: 'event_type', id: ALL };
}

/** Answers views which properties event types declare `pii: true` (contract section 6). */
@Injectable()
export class PersonalPropertyNames implements OnModuleInit {
  private readonly names: InvalidatingCache<ReadonlySet<string>>;

  constructor(
    private readonly types: EventTypeRepository,
    private readonly properties: PersonalProperties,
    feed: InvalidationFeed,
    clock: Clock,
  ) {
    this.names = new InvalidatingCache(feed, clock, EVENT_TYPES_MAX);
  }

  onModuleInit(): void {
    this.properties.answerWith((tenantId, eventTypes) => this.namesOf(tenantId, eventTypes));
  }

  /**
   * The names over all versions of each type: a property that is personal in one version is masked in events of every
   * version. One statement reads what is not cached, and reads names only, because a definition may have 200 KiB.
   */
  private async namesOf(tenantId: string, eventTypes: readonly (string | null)[]): Promise<NamesByType> {
    const found = new Map<string | null, ReadonlySet<string>>();
    const unknown: (string | null)[] = [];
    for (const eventType of eventTypes) {
      const names = this.names.recall(keyOf(tenantId, eventType));
      if (names === undefined) unknown.push(eventType);
      else found.set(eventType, names);
    }
    if (unknown.length === 0) return found;
    const byKey = new Map(await this.names.learnAll(() => this.read(tenantId, unknown)));
    for (const eventType of unknown) found.set(eventType, byKey.get(keyOf(tenantId, eventType)) ?? new Set());
    return found;
  }

  private async read(
    tenantId: string,
    eventTypes: readonly (string | null)[],
  ): Promise<ReadonlyMap<string, CacheableRead<ReadonlySet<string>>>> {
    const named = eventTypes.filter((eventType) => eventType !== null);
    const ofAll = eventTypes.includes(null);
    const pairs = await this.types.personalProperties(tenantId, ofAll ? undefined : named);
    const names = new Map(eventTypes.map((eventType) => [eventType, new Set<string>()]));
    for (const { eventType, name } of pairs) {
      names.get(eventType)?.add(name);
      names.get(null)?.add(name);
    }
    return new Map(
      Array.from(names, ([eventType, value]) => [
        keyOf(tenantId, eventType),
        { value, subject: eventType === null ? allEventTypes(tenantId) : subjectOf(tenantId, eventType) },
      ]),
    );
  }
}

function keyOf(tenantId: string, eventType: string | null): string {
  return eventType === null ? tenantId : `${tenantId}/${eventType}`;
}

function subjectOf(tenantId: string, eventType: string): InvalidationSubject {
  return { tenantId, kind: 'event_type', id: eventType };
}
