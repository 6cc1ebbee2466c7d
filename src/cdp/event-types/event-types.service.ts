import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Principal } from '../../platform/auth/principal';
import { Clock } from '../../platform/values/clock';
import { InvalidationFeed, type InvalidationSubject } from '../../platform/invalidation/invalidation-feed';
import { describeFaults } from '../../platform/errors/describe-faults';
import { DomainError } from '../../platform/errors/domain-error';
import { KeyedMutex } from '../../platform/async/keyed-mutex';
import { compareDefinitions } from './domain/contract-compatibility';
import { personalPropertiesOf, type EventTypeDefinition } from './domain/event-type-definition';
import type { RegistrationRequest } from './domain/event-type-parser';
import type { EventTypeVersion } from './entities/event-type-version.entity';
import { EventTypeRepository } from './event-type.repository';
import { allEventTypes } from './personal-property-names';

export interface Registration {
  readonly version: EventTypeVersion;
  /** False when the definition was in force already. */
  readonly created: boolean;
}

/** Registers what events of the CDP family may say (contract section 4). */
@Injectable()
export class EventTypesService {
  private readonly mutex: KeyedMutex;

  constructor(
    private readonly database: DataSource,
    private readonly types: EventTypeRepository,
    private readonly feed: InvalidationFeed,
    private readonly clock: Clock,
  ) {
    this.mutex = new KeyedMutex(clock);
  }

  /**
   * Puts a definition in force: at once on this node, within a second on every other one. A deprecated type stays so.
   * Throws `incompatible_event_type` with every break when events that were right would become wrong and `force` is not
   * set.
   */
  async register(caller: Principal, { force, definition }: RegistrationRequest): Promise<Registration> {
    const turn = `${caller.tenantId}/${definition.eventType}`;
    const registration = await this.mutex.runExclusive(turn, () => this.store(caller, definition, force));
    for (const subject of subjectsOf(caller.tenantId, definition)) this.feed.forget(subject);
    return registration;
  }

  /**
   * Has events of a type leave a warning a day, with the same speed; they are still taken. For good: of a type that is
   * deprecated, or none, nothing changes.
   */
  async deprecate(tenantId: string, eventType: string): Promise<void> {
    const subject = { tenantId, kind: 'event_type', id: eventType } as const;
    const isNews = await this.mutex.runExclusive(`${tenantId}/${eventType}`, () =>
      this.database.transaction(async (manager) => {
        const deprecated = await this.types.deprecate(manager, tenantId, eventType, this.clock.now());
        if (deprecated) await this.feed.announce(manager, subject);
        return deprecated;
      }),
    );
    if (isNews) this.feed.forget(subject);
  }

  private store(caller: Principal, definition: EventTypeDefinition, force: boolean): Promise<Registration> {
    const { tenantId, credentialId } = caller;
    const { eventType } = definition;
    const now = this.clock.now();
    return this.database.transaction(async (manager) => {
      await this.types.lock(manager, tenantId, eventType, now);
      const latest = await this.types.latest(tenantId, eventType, manager);
      if (latest !== null) {
        const { outcome, breaks } = compareDefinitions(latest.definition, definition);
        if (outcome === 'identical') return { version: latest, created: false };
        if (outcome === 'breaking' && !force) {
          throw new DomainError('incompatible_event_type', describeFaults(breaks), { details: breaks });
        }
      }
      const version: EventTypeVersion = {
        tenantId,
        eventType,
        version: (latest?.version ?? 0) + 1,
        definition,
        createdAt: now,
        createdBy: credentialId,
        personalProperties: personalPropertiesOf(definition),
      };
      await this.types.insertVersion(manager, version);
      for (const subject of subjectsOf(tenantId, definition)) await this.feed.announce(manager, subject);
      return { version, created: true };
    });
  }
}

/**
 * What changes with a new version; that of all types last, for which registrations of the workspace wait for each
 * other.
 */
function subjectsOf(tenantId: string, definition: EventTypeDefinition): InvalidationSubject[] {
  const own: InvalidationSubject = { tenantId, kind: 'event_type', id: definition.eventType };
  return personalPropertiesOf(definition).length > 0 ? [own, allEventTypes(tenantId)] : [own];
}
