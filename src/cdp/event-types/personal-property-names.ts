import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../platform/values/clock';
import { InvalidationFeed, type InvalidationSubject } from '../../platform/invalidation/invalidation-feed';
import { InvalidatingCache, type CacheableRead } from '../../platform/invalidation/invalidating-cache';
import { PersonalProperties } from '../../platform/privacy/personal-properties';
import { EventTypeRepository } from './event-type.repository';

const EVENT_TYPES_MAX = 1_000;
/** The id for all event types of a workspace. No type can have this name. */
const ALL = '*';

/** The subject that a new version with personal properties invalidates, for all types of the workspace together. */
export function allEventTypes(tenantId: string): InvalidationSubject {
  return { tenantId, kind: 'event_type', id: ALL };
}

/** What is known of one event type, or of all of a workspace. */
interface TypeNames {
  readonly names: ReadonlySet<string>;
  readonly isRegistered: boolean;
}

const UNREGISTERED: TypeNames = { names: new Set(), isRegistered: false };

/** Answers views which properties event types declare `pii: true` (contract section 6). */
@Injectable()
export class PersonalPropertyNames implements OnModuleInit {
  private readonly types: InvalidatingCache<TypeNames>;

  constructor(
    private readonly repository: EventTypeRepository,
    private readonly properties: PersonalProperties,
    feed: InvalidationFeed,
    clock: Clock,
  ) {
    this.types = new InvalidatingCache(feed, clock, EVENT_TYPES_MAX);
  }

  onModuleInit(): void {
    this.properties.answerWith({
      namesOf: async (tenantId, eventTypes) => {
        const known = await this.typesOf(tenantId, eventTypes);
        return new Map(Array.from(known, ([eventType, { names }]) => [eventType, names]));
      },
      unregisteredAmong: async (tenantId, eventTypes) => {
        const known = await this.typesOf(tenantId, eventTypes);
        return new Set(eventTypes.filter((eventType) => known.get(eventType)?.isRegistered === false));
      },
    });
  }

  /**
   * The names over all versions of each type: a property that is personal in one version is masked in events of every
   * version. One statement reads what is not cached, and reads names only, because a definition may have 200 KiB.
   */
  private async typesOf(
    tenantId: string,
    eventTypes: readonly (string | null)[],
  ): Promise<ReadonlyMap<string | null, TypeNames>> {
    const found = new Map<string | null, TypeNames>();
    const unknown: (string | null)[] = [];
    for (const eventType of eventTypes) {
      const type = this.types.recall(keyOf(tenantId, eventType));
      if (type === undefined) unknown.push(eventType);
      else found.set(eventType, type);
    }
    if (unknown.length === 0) return found;
    const byKey = new Map(await this.types.learnAll(() => this.read(tenantId, unknown)));
    for (const eventType of unknown) found.set(eventType, byKey.get(keyOf(tenantId, eventType)) ?? UNREGISTERED);
    return found;
  }

  private async read(
    tenantId: string,
    eventTypes: readonly (string | null)[],
  ): Promise<ReadonlyMap<string, CacheableRead<TypeNames>>> {
    const named = eventTypes.filter((eventType) => eventType !== null);
    const ofAll = eventTypes.includes(null);
    const pairs = await this.repository.personalProperties(tenantId, ofAll ? undefined : named);
    const registered = new Set(pairs.map(({ eventType }) => eventType));
    const names = new Map(eventTypes.map((eventType) => [eventType, new Set<string>()]));
    for (const { eventType, name } of pairs) {
      if (name === null) continue;
      names.get(eventType)?.add(name);
      names.get(null)?.add(name);
    }
    return new Map(
      Array.from(names, ([eventType, ofType]) => [
        keyOf(tenantId, eventType),
        {
          value: { names: ofType, isRegistered: eventType === null || registered.has(eventType) },
          subject: eventType === null ? allEventTypes(tenantId) : subjectOf(tenantId, eventType),
        },
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
