import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Principal } from '../../platform/auth/principal';
import { Clock } from '../../platform/values/clock';
import { InvalidationFeed, type InvalidationSubject } from '../../platform/invalidation/invalidation-feed';
import { describeFaults } from '../../platform/errors/describe-faults';
import { DomainError } from '../../platform/errors/domain-error';
import { KeyedMutex } from '../../platform/async/keyed-mutex';
import type { TransactionPrecondition } from '../../platform/postgres/transaction-precondition';
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

/** What `changeAll` does with one type. */
export interface EventTypeChange {
  readonly eventType: string;
  /** Undefined: no version is registered. */
  readonly definition: EventTypeDefinition | undefined;
  readonly deprecates: boolean;
}

/** Registers and deprecates event types of the CDP family (contract section 4). */
@Injectable()
export class EventTypesService {
  private readonly mutex = new KeyedMutex();

  constructor(
    private readonly database: DataSource,
    private readonly types: EventTypeRepository,
    private readonly feed: InvalidationFeed,
    private readonly clock: Clock,
  ) {}

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
    const subject = ownSubject(tenantId, eventType);
    const hasChanged = await this.mutex.runExclusive(`${tenantId}/${eventType}`, () =>
      this.database.transaction(async (manager) => {
        const deprecated = await this.types.deprecate(manager, tenantId, eventType, this.clock.now());
        if (deprecated) await this.feed.announce(manager, subject);
        return deprecated;
      }),
    );
    if (hasChanged) this.feed.forget(subject);
  }

  /**
   * `register` and `deprecate` for several types in one transaction: all of them, or none. Throws what `precondition`
   * throws. Concurrent calls lock the types in one order.
   */
  async changeAll(
    caller: Principal,
    changes: readonly EventTypeChange[],
    { force, precondition }: { readonly force: boolean; readonly precondition: TransactionPrecondition },
  ): Promise<void> {
    const { tenantId } = caller;
    const sorted = changes.toSorted((a, b) => (a.eventType < b.eventType ? -1 : 1));
    const changed = new Map<string, InvalidationSubject>();
    await this.database.transaction(async (manager) => {
      const now = this.clock.now();
      for (const { eventType } of sorted) await this.types.lock(manager, tenantId, eventType, now);
      await precondition(manager);
      for (const { eventType, definition, deprecates } of sorted) {
        const subjects = definition === undefined ? [] : subjectsOf(tenantId, definition);
        if (definition !== undefined) await this.storeVersion(manager, caller, definition, force);
        if (deprecates) await this.types.deprecate(manager, tenantId, eventType, now);
        for (const each of [ownSubject(tenantId, eventType), ...subjects]) changed.set(each.id, each);
      }
      const all = changed.get(allEventTypes(tenantId).id);
      if (all !== undefined) changed.delete(all.id);
      // The one of all types comes last, as in `subjectsOf`.
      if (all !== undefined) changed.set(all.id, all);
      for (const subject of changed.values()) await this.feed.announce(manager, subject);
    });
    for (const subject of changed.values()) this.feed.forget(subject);
  }

  private store(caller: Principal, definition: EventTypeDefinition, force: boolean): Promise<Registration> {
    const { tenantId } = caller;
    const now = this.clock.now();
    return this.database.transaction(async (manager) => {
      await this.types.lock(manager, tenantId, definition.eventType, now);
      const registration = await this.storeVersion(manager, caller, definition, force);
      if (!registration.created) return registration;
      for (const subject of subjectsOf(tenantId, definition)) await this.feed.announce(manager, subject);
      return registration;
    });
  }

  /** The type must be locked. */
  private async storeVersion(
    manager: EntityManager,
    { tenantId, credentialId }: Principal,
    definition: EventTypeDefinition,
    force: boolean,
  ): Promise<Registration> {
    const { eventType } = definition;
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
      createdAt: this.clock.now(),
      createdBy: credentialId,
      personalProperties: personalPropertiesOf(definition),
    };
    await this.types.insertVersion(manager, version);
    return { version, created: true };
  }
}

/**
 * The subjects that a new version invalidates. The one of all types comes last: registrations of a workspace wait for
 * its lock.
 */
function subjectsOf(tenantId: string, definition: EventTypeDefinition): InvalidationSubject[] {
  const own = ownSubject(tenantId, definition.eventType);
  return personalPropertiesOf(definition).length > 0 ? [own, allEventTypes(tenantId)] : [own];
}

function ownSubject(tenantId: string, eventType: string): InvalidationSubject {
  return { tenantId, kind: 'event_type', id: eventType };
}
