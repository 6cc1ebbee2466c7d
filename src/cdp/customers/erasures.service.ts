import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { CustomerErasure, type ErasedCustomer } from '../../identity/customer-erasure';
import type { IdentityReference } from '../../identity/domain/identity-reference';
import type { Principal } from '../../platform/auth/principal';
import { Clock } from '../../platform/values/clock';
import type { DomainError } from '../../platform/errors/domain-error';
import { describeError } from '../../platform/errors/error-summary';
import { validationFailed } from '../../platform/errors/validation-failed';
import { isUuid } from '../../platform/values/uuid';
import { EVERY_MINUTE, Jobs } from '../../platform/jobs/jobs';
import { KeyedMutex } from '../../platform/async/keyed-mutex';
import { Readiness } from '../../platform/health/readiness';
import { PersonalData, type PersonalDataKeeper } from '../../platform/privacy/personal-data';
import { Persons } from './persons';
import { noSuchProfile, ProfilesService } from './profiles.service';

/** Finished in one go; far more than can be interrupted at once. */
const UNFINISHED_MAX = 1_000;
const SWEEP_JOB = 'erasures-sweep';
/** One that was begun later may well be under way. */
const INTERRUPTED_AFTER_MS = 60_000;

/** Whoever is at one says so every second; who has not for so long is gone. */
const IDLE_MS = 15_000;

export interface FinishedErasure {
  readonly profileId: string;
  readonly erasedAt: Date;
}

/** Erases persons from everything that the service keeps (contract section 5, docs/adr/0026). */
@Injectable()
export class ErasuresService implements OnModuleInit, OnApplicationBootstrap {
  private readonly logger = new Logger(ErasuresService.name);
  /** One erasure of a workspace at a time in this process: each is some hundred statements. */
  private readonly mutex: KeyedMutex;

  constructor(
    private readonly customers: CustomerErasure,
    private readonly profiles: ProfilesService,
    private readonly persons: Persons,
    private readonly data: PersonalData,
    private readonly jobs: Jobs,
    private readonly readiness: Readiness,
    private readonly clock: Clock,
  ) {
    this.mutex = new KeyedMutex(clock);
  }

  onModuleInit(): void {
    this.jobs.handle(SWEEP_JOB, () => this.finishRest(INTERRUPTED_AFTER_MS), { cron: EVERY_MINUTE });
  }

  /** What a killed process has left half done; beside the start, which need not wait for it. */
  onApplicationBootstrap(): void {
    void this.atStart();
  }

  /**
   * Erases a customer; once this resolves nothing of the person is left. A customer who was erased before stays as they
   * are, and what is unfinished is finished. Throws `not_found`, `unavailable`, and `validation_failed` without a
   * SECRETS_KEY.
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
    return this.mutex.runExclusive(tenantId, () => this.finish(customer));
  }

  /**
   * Erases whoever has an identifier: a customer, or a participant of whom there are no events (docs/adr/0052). Throws
   * what `erase` throws; `not_found` when nobody is known by it.
   */
  async eraseByIdentifier(
    caller: Principal,
    reference: IdentityReference,
    address: string | null,
  ): Promise<FinishedErasure> {
    if (!this.customers.isPossible) throw noSecretsKey();
    const { tenantId, credentialId } = caller;
    const identifier = this.profiles.identifierOf(reference);
    const found = await this.persons.findBy(tenantId, identifier);
    if (found !== 'participant') return this.erase(caller, found.rootId, address);
    const eraser = { by: credentialId, address };
    const begun = await this.customers.beginWithoutProfile(tenantId, identifier, eraser);
    // Their first event came just now.
    if (begun === undefined) return this.eraseByIdentifier(caller, reference, address);
    return this.mutex.runExclusive(tenantId, () => this.finish(begun));
  }

  private async finish(customer: ErasedCustomer): Promise<FinishedErasure> {
    const { erasure } = customer;
    if (erasure.finishedAt !== null) return erasure;
    const person = this.persons.of(erasure.tenantId, customer);
    const done = await this.customers.steps(erasure);
    const since = new Map<PersonalDataKeeper, Date>();
    for (const keeper of this.data.keepers()) {
      const steps = this.customers.stepsOf(erasure, done, keeper.name, this.readiness.stopped);
      if ((await keeper.eraseAhead?.(person, steps)) === true) since.set(keeper, steps.begunAt);
    }
    return this.customers.finish(customer, async (manager) => {
      for (const keeper of this.data.keepers()) await keeper.erase(manager, person, since.get(keeper) ?? null);
    });
  }

  private async atStart(): Promise<void> {
    try {
      // Nothing else would tell the operator.
      if (!this.customers.isPossible && (await this.customers.hasErasedIdentifiers())) this.logger.error(KEY_LOST);
      await this.finishRest(0);
    } catch (error) {
      this.tell(error);
    }
  }

  /** Those that were begun so long ago. One that cannot be finished costs the others nothing. */
  private async finishRest(begunMsAgo: number): Promise<void> {
    if (!this.customers.isPossible) return;
    const begunBy = new Date(this.clock.now().getTime() - begunMsAgo);
    const idleSince = new Date(this.clock.now().getTime() - IDLE_MS);
    for (const { tenantId, profileId } of await this.customers.unfinished(begunBy, idleSince, UNFINISHED_MAX)) {
      try {
        await this.mutex.runExclusive(tenantId, async () =>
          this.finish(await this.customers.customerOf(tenantId, profileId)),
        );
      } catch (error) {
        this.tell(error);
      }
    }
  }

  private tell(error: unknown): void {
    this.logger.warn(`An erasure could not be finished now: ${describeError(error).line}`);
  }
}

const KEY_LOST =
  'Persons were erased, and without the SECRETS_KEY of that time their events are taken as those of strangers. Set it again.';

function noSecretsKey(): DomainError {
  const message =
    'Nobody can be erased: without SECRETS_KEY the service could not recognise further events of the person. Have the ' +
    'operator set one.';
  return validationFailed([{ path: '', code: 'secrets_key_missing', message }]);
}
