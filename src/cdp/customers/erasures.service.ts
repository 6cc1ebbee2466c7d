import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CustomerErasure, type ErasedCustomer } from '../../identity/customer-erasure';
import type { IdentityReference } from '../../identity/domain/identity-reference';
import type { Principal } from '../../platform/auth/principal';
import { Clock } from '../../platform/values/clock';
import type { DomainError } from '../../platform/errors/domain-error';
import { describeError } from '../../platform/errors/error-summary';
import { validationFailed } from '../../platform/errors/validation-failed';
import { isUuid, NIL_UUID } from '../../platform/values/uuid';
import { handleInParts } from '../../platform/jobs/in-steps';
import { EVERY_MINUTE, Jobs, type JobPayload } from '../../platform/jobs/jobs';
import { KeyedMutex } from '../../platform/async/keyed-mutex';
import { Readiness } from '../../platform/health/readiness';
import {
  PersonalData,
  type ErasureSteps,
  type Person,
  type PersonalDataKeeper,
} from '../../platform/privacy/personal-data';
import type { FinishedErasure } from './domain/customer-view';
import { Persons } from './persons';
import { noSuchProfile, ProfilesService } from './profiles.service';

const SWEEP_JOB = 'erasures-sweep';
/** A sweep leaves younger erasures alone: they may be in progress. */
const INTERRUPTED_AFTER_MS = 60_000;

/** A process stores its progress every second. After this time without progress it counts as dead. */
const IDLE_MS = 15_000;

interface ErasedAhead {
  /** Of the features that have erased what was there: since when what came in is still to be erased. */
  readonly since: ReadonlyMap<PersonalDataKeeper, Date>;
  /** What must have ended before the rest is erased. */
  readonly ends: readonly (() => Promise<void>)[];
}

/** Erases all data of persons (contract section 5, docs/adr/0026). */
@Injectable()
export class ErasuresService implements OnModuleInit, OnApplicationBootstrap {
  private readonly logger = new Logger(ErasuresService.name);
  /** In this process one erasure of a workspace at a time: each sends some hundred statements. */
  private readonly mutex = new KeyedMutex();
  private isSweeping = false;

  constructor(
    private readonly database: DataSource,
    private readonly customers: CustomerErasure,
    private readonly profiles: ProfilesService,
    private readonly persons: Persons,
    private readonly data: PersonalData,
    private readonly jobs: Jobs,
    private readonly readiness: Readiness,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    const { manager } = this.database;
    handleInParts(this.jobs, manager, SWEEP_JOB, (from) => this.sweep(from), { cron: EVERY_MINUTE });
  }

  /** Finishes the erasures of killed processes, without delaying the start. */
  onApplicationBootstrap(): void {
    void this.resumeAtStart();
  }

  /**
   * Erases a customer; once this resolves, the service holds no data of the person. Finishes an unfinished erasure, and
   * returns a finished one unchanged.
   *
   * Throws `not_found`, `unavailable`, and `validation_failed` without a SECRETS_KEY.
   */
  async erase(
    { tenantId, credentialId }: Principal,
    profileId: string,
    address: string | null,
  ): Promise<FinishedErasure> {
    if (!this.customers.isPossible) throw noSecretsKey();
    const eraser = { by: credentialId, address };
    const customer = isUuid(profileId) ? await this.customers.begin(tenantId, profileId, eraser) : undefined;
    if (customer === undefined) throw noSuchProfile();
    return this.finish(customer);
  }

  /**
   * Erases the person with an identifier: a customer, or a participant without events (docs/adr/0052). Finishes an
   * unfinished erasure. Throws what `erase` throws; `not_found` if there is no such person.
   */
  async eraseByIdentifier(
    caller: Principal,
    reference: IdentityReference,
    address: string | null,
  ): Promise<FinishedErasure> {
    if (!this.customers.isPossible) throw noSecretsKey();
    const { tenantId, credentialId } = caller;
    const identifier = this.profiles.identifierOf(reference);
    const profileId = await this.persons.profileOf(tenantId, identifier);
    if (profileId !== undefined) return this.erase(caller, profileId, address);
    const eraser = { by: credentialId, address };
    const begun = await this.customers.beginWithoutProfile(tenantId, identifier, eraser);
    // The first event of the participant arrived meanwhile and made a customer: start again.
    if (begun === undefined) return this.eraseByIdentifier(caller, reference, address);
    return this.finish(begun);
  }

  /** Another process may finish it meanwhile: then nothing is left to do, and this one stops. */
  private async finish(customer: ErasedCustomer): Promise<FinishedErasure> {
    const { tenantId, profileId, finishedAt } = customer.erasure;
    if (finishedAt !== null) return customer.erasure;
    try {
      return await this.eraseAll(customer);
    } catch (error) {
      const { erasure } = await this.customers.customerOf(tenantId, profileId);
      if (erasure.finishedAt === null) throw error;
      return erasure;
    }
  }

  private async eraseAll(customer: ErasedCustomer): Promise<FinishedErasure> {
    const { tenantId } = customer.erasure;
    const person = this.persons.of(tenantId, customer);
    await this.customers.waitForEvents(customer);
    const { since, ends } = await this.mutex.runExclusive(tenantId, () => this.eraseAhead(customer, person));
    for (const end of ends) await end();
    return this.mutex.runExclusive(tenantId, () =>
      this.customers.finish(customer, async (manager) => {
        for (const keeper of this.data.keepers()) await keeper.erase(manager, person, since.get(keeper) ?? null);
      }),
    );
  }

  private async eraseAhead({ erasure }: ErasedCustomer, person: Person): Promise<ErasedAhead> {
    const done = await this.customers.steps(erasure);
    const since = new Map<PersonalDataKeeper, Date>();
    const ends: (() => Promise<void>)[] = [];
    if (done === undefined) return { since, ends };
    for (const keeper of this.data.keepers()) {
      const steps = this.customers.stepsOf(erasure, done, keeper.name, this.readiness.stopped);
      const waitFor: ErasureSteps['waitFor'] = (end) => ends.push(end);
      const isErased = (await keeper.eraseAhead?.(person, { ...steps, waitFor })) === true;
      // What a clock that was set back since has stamped seems older than the steps: then nothing counts as erased.
      if (isErased && steps.begunAt <= this.clock.now()) since.set(keeper, steps.begunAt);
    }
    return { since, ends };
  }

  private async resumeAtStart(): Promise<void> {
    try {
      // No request fails because of the missing key, so that only this message informs the operator.
      if (!this.customers.isPossible && (await this.customers.hasErasedIdentifiers())) this.logger.error(KEY_LOST);
      for await (const _position of this.finishInterrupted(0, {}));
    } catch (error) {
      this.logFailure(error);
    }
  }

  /**
   * Finishes interrupted erasures in parts: each may take a minute, and hundreds may wait. One sweep of a process at a time
   * leaves the other jobs a place; another one ends at once, because the one under way goes on behind it.
   */
  private async *sweep(from: JobPayload): AsyncGenerator<JobPayload> {
    if (this.isSweeping) return;
    this.isSweeping = true;
    try {
      yield* this.finishInterrupted(INTERRUPTED_AFTER_MS, from);
    } finally {
      this.isSweeping = false;
    }
  }

  /**
   * Finishes erasures that began at least `begunMsAgo` ago, in steps, each of which gives where another call goes on. A failure
   * does not affect the other erasures. A process that stops begins no further one.
   */
  async *finishInterrupted(begunMsAgo: number, from: JobPayload): AsyncGenerator<JobPayload> {
    if (!this.customers.isPossible) return;
    const { tenantId = NIL_UUID, profileId = NIL_UUID } = from;
    for (let behind = { tenantId, profileId }; !this.readiness.stopped.aborted;) {
      const nowMs = this.clock.now().getTime();
      const [begunBy, idleSince] = [new Date(nowMs - begunMsAgo), new Date(nowMs - IDLE_MS)];
      const [next] = await this.customers.unfinished(begunBy, idleSince, 1, behind);
      if (next === undefined) return;
      behind = { tenantId: next.tenantId, profileId: next.profileId };
      try {
        await this.finish(await this.customers.customerOf(next.tenantId, next.profileId));
      } catch (error) {
        this.logFailure(error);
      }
      yield behind;
    }
  }

  private logFailure(error: unknown): void {
    this.logger.warn(`An erasure could not be finished now: ${describeError(error).line}`);
  }
}

const KEY_LOST =
  'There are erased persons, but no SECRETS_KEY: their events are accepted as those of new customers. Set the key that ' +
  'was in use.';

function noSecretsKey(): DomainError {
  const message =
    'The service cannot erase persons without SECRETS_KEY: it could not recognise their later events. Ask the ' +
    'operator to set one.';
  return validationFailed([{ path: '', code: 'secrets_key_missing', message }]);
}
