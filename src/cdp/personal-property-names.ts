import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../platform/clock/clock';
import { ControlFeed } from '../platform/control/control-feed';
import { ControlMemory } from '../platform/control/control-memory';
import { PersonalProperties } from '../platform/masking/personal-properties';
import type { EventTypeVersion } from './entities/event-type-version.entity';
import { EventTypeRepository } from './event-type.repository';

const EVENT_TYPES_MAX = 1_000;

/** Tells views which properties event types declare `pii: true` (contract section 6). */
@Injectable()
export class PersonalPropertyNames implements OnModuleInit {
  private readonly names: ControlMemory<ReadonlySet<string>>;

  constructor(
    private readonly types: EventTypeRepository,
    private readonly properties: PersonalProperties,
    feed: ControlFeed,
    clock: Clock,
  ) {
    this.names = new ControlMemory(feed, clock, EVENT_TYPES_MAX);
  }

  onModuleInit(): void {
    this.properties.answerWith((tenantId, eventType) => this.namesOf(tenantId, eventType));
  }

  /** Of all versions: what became personal later was so before, and stays so when a version forgets it. */
  private async namesOf(tenantId: string, eventType: string | null): Promise<ReadonlySet<string>> {
    if (eventType === null) return namesIn(await this.types.allVersions(tenantId));
    const key = `${tenantId}/${eventType}`;
    return (
      this.names.recall(key) ??
      this.names.learn(key, async () => ({
        value: namesIn(await this.types.versions(tenantId, eventType)),
        subject: { tenantId, kind: 'event_type', id: eventType },
      }))
    );
  }
}

function namesIn(versions: readonly EventTypeVersion[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { definition } of versions) {
    for (const [name, { pii }] of Object.entries(definition.properties)) if (pii === true) names.add(name);
  }
  return names;
}
