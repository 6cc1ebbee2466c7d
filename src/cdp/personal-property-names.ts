import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../platform/clock/clock';
import { ControlFeed } from '../platform/control/control-feed';
import { ControlMemory } from '../platform/control/control-memory';
import { PersonalProperties } from '../platform/masking/personal-properties';
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
  private async namesOf(tenantId: string, eventType: string): Promise<ReadonlySet<string>> {
    const key = `${tenantId}/${eventType}`;
    const known = this.names.recall(key);
    if (known !== undefined) return known;
    return this.names.learn(key, async () => {
      const versions = await this.types.versions(tenantId, eventType);
      const personal = versions.flatMap(({ definition }) =>
        Object.entries(definition.properties).flatMap(([name, { pii }]) => (pii === true ? [name] : [])),
      );
      return { value: new Set(personal), subject: { tenantId, kind: 'event_type', id: eventType } };
    });
  }
}
