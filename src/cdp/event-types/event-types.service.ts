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
  /** False if the definition is the current version already. */
  readonly created: boolean;
}

/** Registers and deprecates event types of the CDP family (contract section 4). */
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
   * Registers a definition, as a new version if it differs from the current one. It applies at once on this node, and
   * within a second on every other one. A deprecated type stays deprecated.
   *
   * Throws `incompatible_event_type` with every break if valid events would become invalid and `force` is not set.
   */
  async register(caller: Principal, { force, definition }: RegistrationRequest): Promise<Registration> {
    const key = `${caller.tenantId}/${definition.eventType}`;
    const registration = await this.mutex.runExclusive(key, () => this.store(caller, definition, force));
    for (const subject of subjectsOf(caller.tenantId, definition)) this.feed.forget(subject);
    return registration;
  }

  /**
   * Deprecates a type for good, as fast as `register`: its events are still accepted and open one review warning a day.
   * Has no effect on a deprecated or unknown type.
   */
  async deprecate(tenantId: string, eventType: string): Promise<void> {
    const subject = { tenantId, kind: 'event_type', id: eventType } as const;
    const hasChanged = await this.mutex.runExclusive(`${tenantId}/${eventType}`, () =>
      this.database.transaction(async (manager) => {
        const deprecated = await this.types.deprecate(manager, tenantId, eventType, this.clock.now());
        if (deprecated) await this.feed.announce(manager, subject);
        return deprecated;
      }),
    );
    if (hasChanged) this.feed.forget(subject);
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
 * The subjects that a new version invalidates. The one of all types comes last: registrations of a workspace wait for
 * its lock.
 */
function subjectsOf(tenantId: string, definition: EventTypeDefinition): InvalidationSubject[] {
  const own: InvalidationSubject = { tenantId, kind: 'event_type', id: definition.eventType };
  return personalPropertiesOf(definition).length > 0 ? [own, allEventTypes(tenantId)] : [own];
}
