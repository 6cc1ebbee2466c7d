import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, LessThanOrEqual, type EntityManager } from 'typeorm';
import { Clock } from '../platform/values/clock';
import { databaseFailure } from '../platform/postgres/database-errors';
import { unavailable } from '../platform/errors/unavailable';
import { newId } from '../platform/values/ids';
import type { ErasureSteps } from '../platform/privacy/personal-data';
import { CustomerLocks } from './customer-locks';
import type { Identifier } from './domain/identifier';
import { ErasedIdentifiers } from './erased-identifiers';
import { Erasure, type StepsDone } from './entities/erasure.entity';
import { Profile } from './entities/profile.entity';

/** Whoever asks for an erasure. */
export interface Eraser {
  /** The id of the credential. */
  readonly by: string;
  readonly address: string | null;
}

/** A customer whose erasure has begun: no event, identifier or merge can reach it any more. */
export interface ErasedCustomer {
  readonly erasure: Erasure;
  /** Every profile of it, sorted. */
  readonly profileIds: readonly string[];
  /** What is not forgotten yet; empty once the erasure is finished. */
  readonly identifiers: readonly Identifier[];
}

/** Each failed attempt means that somebody else's change of the customer went through. */
const ATTEMPTS_MAX = 12;
/** A killed process loses so much of its work at most. */
const KEPT_EVERY_MS = 1_000;

/**
 * Erases customers in two transactions (contract section 5, docs/adr/0026). The first marks the customer; events that are on
 * their way by then may still be stored, since they hold its profiles. The second waits for them, and forgets who it was. A
 * process that is killed between the two leaves an unfinished erasure, which anybody may finish.
 */
@Injectable()
export class CustomerErasure {
  constructor(
    private readonly database: DataSource,
    private readonly locks: CustomerLocks,
    private readonly erased: ErasedIdentifiers,
    private readonly clock: Clock,
  ) {}

  /** Whether the service has what erasing takes: a SECRETS_KEY to recognise identifiers under. */
  get isPossible(): boolean {
    return this.erased.canRemember;
  }

  /** Whether anybody was erased whose events would be recognised. */
  areRemembered(): Promise<boolean> {
    return this.erased.isAnybody();
  }

  /** Marks a customer, by the id of any of its profiles; undefined when there is none. One that is marked stays as it is. */
  async begin(tenantId: string, profileId: string, eraser: Eraser): Promise<ErasedCustomer | undefined> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const root = await this.locks.rootOf(this.database.manager, tenantId, profileId);
      if (root === undefined) return undefined;
      if (root.erased) return this.customerOf(tenantId, root.id);
      await this.database.transaction((manager) => this.mark(manager, tenantId, root.id, eraser));
    }
    throw unavailable();
  }

  /**
   * Marks a person of whom there are no events, such as a participant: their profile is made, and marked in the same
   * transaction. Undefined when somebody has the identifier by now.
   */
  async beginWithoutProfile(
    tenantId: string,
    { kind, value }: Identifier,
    eraser: Eraser,
  ): Promise<ErasedCustomer | undefined> {
    const [profileId, erasedAt] = [newId(), this.clock.now()];
    const isMade = await this.database.transaction(async (manager) => {
      const claimed: unknown[] = await manager.query(
        `INSERT INTO profile_identifiers (tenant_id, kind, value, profile_id) VALUES ($1, $2, $3, $4)
         ON CONFLICT ON CONSTRAINT profile_identifiers_pkey DO NOTHING RETURNING profile_id`,
        [tenantId, kind, value, profileId],
      );
      if (claimed.length === 0) return false;
      await manager.insert(Profile, {
        tenantId,
        profileId,
        rootId: profileId,
        externalId: null,
        emailCount: 0,
        phoneCount: 0,
        deviceCount: 0,
        version: 1,
        createdAt: erasedAt,
        erasedAt,
      });
      await insertErasure(manager, { tenantId, profileId, erasedAt, ...eraser });
      return true;
    });
    return isMade ? this.customerOf(tenantId, profileId) : undefined;
  }

  /** Erasures that were begun by `begunBy` and are not finished, of any workspace; without those somebody has been at since `idleSince`. */
  unfinished(begunBy: Date, idleSince: Date, limit: number): Promise<Erasure[]> {
    const begun = { finishedAt: IsNull(), erasedAt: LessThanOrEqual(begunBy) };
    const where = [IsNull(), LessThanOrEqual(idleSince)].map((workedAt) => ({ ...begun, workedAt }));
    return this.database.manager.find(Erasure, { where, take: limit });
  }

  /** Begins the steps of an erasure, or goes on with them where they were begun before. */
  async steps({ tenantId, profileId }: Erasure): Promise<StepsDone> {
    const now = this.clock.now();
    const [rows]: [{ progress: StepsDone }[], number] = await this.database.query(
      `UPDATE erasures SET worked_at = $4, progress = coalesce(progress, $3)
       WHERE tenant_id = $1 AND profile_id = $2 RETURNING progress`,
      [tenantId, profileId, JSON.stringify({ begunAt: now.toISOString(), positions: {} }), now],
    );
    const [row] = rows;
    if (row === undefined) throw new Error('An erasure is gone before it is finished');
    return row.progress;
  }

  /** The steps of one feature, until `stopped`. */
  stepsOf(erasure: Erasure, { begunAt, positions }: StepsDone, name: string, stopped: AbortSignal): ErasureSteps {
    let keptAtMs = this.clock.monotonicMs();
    const goOn = (): void => {
      if (stopped.aborted) throw unavailable();
    };
    return {
      begunAt: new Date(begunAt),
      position: positions[name],
      goOn,
      done: async (position) => {
        if (this.clock.monotonicMs() - keptAtMs < KEPT_EVERY_MS && !stopped.aborted) return;
        await this.keepPosition(erasure, name, position);
        keptAtMs = this.clock.monotonicMs();
        goOn();
      },
    };
  }

  /** The customer of an erasure, by its root. */
  async customerOf(tenantId: string, rootId: string): Promise<ErasedCustomer> {
    const { manager } = this.database;
    const erasure = await manager.findOneByOrFail(Erasure, { tenantId, profileId: rootId });
    const members = await this.locks.membersOf(manager, tenantId, rootId);
    const profileIds = members.map((member) => member.profileId).sort();
    const identifiers: Identifier[] = await manager.query(
      `SELECT kind, value FROM profile_identifiers WHERE tenant_id = $1 AND profile_id = ANY($2) AND kind <> ''`,
      [tenantId, profileIds],
    );
    return { erasure, profileIds, identifiers };
  }

  /** Forgets who a marked customer was; `eraseRest` erases in the same transaction what others keep of the person. */
  async finish(customer: ErasedCustomer, eraseRest: (manager: EntityManager) => Promise<void>): Promise<Erasure> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.database.transaction((manager) => this.forget(manager, customer, eraseRest));
      } catch (error) {
        if (databaseFailure(error) !== 'repeat' || attempt === ATTEMPTS_MAX) throw error;
      }
    }
  }

  /** Lets events of an erased person in again; answers for how many identifiers, 0 when nobody was erased with this one. */
  lift(tenantId: string, identifier: Identifier): Promise<number> {
    return this.erased.lift(tenantId, identifier);
  }

  private async mark(manager: EntityManager, tenantId: string, rootId: string, { by, address }: Eraser): Promise<void> {
    if (!(await this.locks.lockRoot(manager, tenantId, rootId))) return;
    const members = await this.locks.membersOf(manager, tenantId, rootId);
    const erasedAt = this.clock.now();
    await manager.query(
      `UPDATE profiles SET erased_at = $3, version = version + 1 WHERE tenant_id = $1 AND profile_id = ANY($2)`,
      [tenantId, members.map(({ profileId }) => profileId), erasedAt],
    );
    await insertErasure(manager, { tenantId, profileId: rootId, erasedAt, by, address });
  }

  private async forget(
    manager: EntityManager,
    { erasure, profileIds, identifiers }: ErasedCustomer,
    eraseRest: (manager: EntityManager) => Promise<void>,
  ): Promise<Erasure> {
    const { tenantId, profileId, erasedAt } = erasure;
    await manager.query(
      `SELECT 1 FROM profiles WHERE tenant_id = $1 AND profile_id = ANY($2) ORDER BY profile_id FOR UPDATE`,
      [tenantId, profileIds],
    );
    const current = await manager.findOneByOrFail(Erasure, { tenantId, profileId });
    if (current.finishedAt !== null) return current;
    // Changed again, under this lock: a waiting FOR KEY SHARE does not look again at a row that was marked before it came.
    await manager.query(
      `UPDATE profiles SET external_id = NULL, email_count = 0, phone_count = 0, device_count = 0, version = version + 1
       WHERE tenant_id = $1 AND profile_id = ANY($2)`,
      [tenantId, profileIds],
    );
    await this.erased.remember(manager, tenantId, identifiers, profileId, erasedAt);
    await manager.query(
      `DELETE FROM profile_identifiers WHERE tenant_id = $1 AND profile_id = ANY($2) AND kind <> ''`,
      [tenantId, profileIds],
    );
    await eraseRest(manager);
    const finishedAt = this.clock.now();
    await manager.update(Erasure, { tenantId, profileId }, { finishedAt });
    return Object.assign(current, { finishedAt });
  }

  private async keepPosition({ tenantId, profileId }: Erasure, name: string, position: string): Promise<void> {
    await this.database.query(
      `UPDATE erasures SET worked_at = $5, progress = jsonb_set(progress, ARRAY['positions', $3], to_jsonb($4::text))
       WHERE tenant_id = $1 AND profile_id = $2`,
      [tenantId, profileId, name, position, this.clock.now()],
    );
  }
}

async function insertErasure(
  manager: EntityManager,
  begun: Pick<Erasure, 'tenantId' | 'profileId' | 'erasedAt' | 'by' | 'address'>,
): Promise<void> {
  await manager.insert(Erasure, { ...begun, progress: null, workedAt: null, finishedAt: null });
}
