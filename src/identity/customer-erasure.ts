import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { AuditLog, type AuditActor } from '../platform/audit/audit-log';
import { auditAction } from '../platform/audit/audit-table';
import { Clock } from '../platform/values/clock';
import { databaseFailure } from '../platform/postgres/database-errors';
import { unavailable } from '../platform/errors/unavailable';
import { newId } from '../platform/values/ids';
import { NIL_UUID } from '../platform/values/uuid';
import type { ErasureSteps } from '../platform/privacy/personal-data';
import { CustomerLocks } from './customer-locks';
import type { Identifier } from './domain/identifier';
import { ErasedIdentifiers } from './erased-identifiers';
import { Erasure, type ErasureProgress } from './entities/erasure.entity';
import { Profile } from './entities/profile.entity';
import { UnlinkedIdentifiers } from './unlinked-identifiers';

/** A customer whose erasure has begun: it gets no further event, identifier or merge. */
export interface ErasedCustomer {
  readonly erasure: Erasure;
  /** The ids of all its profiles, sorted. */
  readonly profileIds: readonly string[];
  /** The identifiers that are not deleted yet; empty once the erasure is finished. */
  readonly identifiers: readonly Identifier[];
}

/** Each failed attempt means that another transaction changed the customer. */
const ATTEMPTS_MAX = 12;
/** How often the progress is stored: a killed process repeats at most this much work, and notices that another one was faster. */
const PROGRESS_INTERVAL_MS = 1_000;
/** What nodes know of the database's time differs by less. */
const IN_FUTURE_MS = 60_000;
const BEFORE_ALL: Pick<Erasure, 'tenantId' | 'profileId'> = { tenantId: NIL_UUID, profileId: NIL_UUID };

/**
 * Erases customers in steps (contract section 5, docs/adr/0026). A first transaction marks the customer. Ingest
 * transactions that have locked its profiles by then still store their events; `waitForEvents` waits for them. The last
 * transaction deletes the identifiers. If a process is killed between the two, the erasure stays unfinished and any
 * process may finish it.
 */
@Injectable()
export class CustomerErasure implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly locks: CustomerLocks,
    private readonly erased: ErasedIdentifiers,
    private readonly unlinked: UnlinkedIdentifiers,
    private readonly clock: Clock,
    private readonly log: AuditLog,
  ) {}

  onModuleInit(): void {
    const [kind, id] = ['erasure', 'profile_id'] as const;
    const columns = { at: 'erased_at', id, action: auditAction(kind, 'erased'), recordId: id, detail: 'NULL' };
    this.log.register({ kind, table: 'erasures', ...columns, ofRecord: { where: 'profile_id = record.id' } });
    // Lifted ones; there is no table of those.
    this.log.registerNotes(kind);
    this.log.registerSameRecords((tenantId, profileId) => this.profileIdsOf(tenantId, profileId));
  }

  /** Whether the service can erase: it needs a SECRETS_KEY for the hashes of erased identifiers. */
  get isPossible(): boolean {
    return this.erased.hasKey;
  }

  /** Whether there are hashes of erased identifiers, in any workspace. */
  hasErasedIdentifiers(): Promise<boolean> {
    return this.erased.hasAny();
  }

  /**
   * Begins the erasure of a customer, by the id of any of its profiles. Undefined if there is no such profile. Has no
   * effect on a customer whose erasure has begun before. Throws `unavailable`.
   */
  async begin(tenantId: string, profileId: string, eraser: AuditActor): Promise<ErasedCustomer | undefined> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const root = await this.locks.rootOf(this.database.manager, tenantId, profileId);
      if (root === undefined) return undefined;
      if (root.erased) return this.customerOf(tenantId, root.id);
      await this.database.transaction((manager) => this.mark(manager, tenantId, profileId, root.id, eraser));
    }
    throw unavailable();
  }

  /**
   * Begins the erasure of a person without events, such as a participant: creates their profile and marks it in the
   * same transaction. Undefined if a profile owns the identifier by now.
   */
  async beginWithoutProfile(
    tenantId: string,
    { kind, value }: Identifier,
    eraser: AuditActor,
  ): Promise<ErasedCustomer | undefined> {
    const profileId = newId();
    const erasedAt = this.clock.now();
    const isCreated = await this.database.transaction(async (manager) => {
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
    return isCreated ? this.customerOf(tenantId, profileId) : undefined;
  }

  /**
   * Unfinished erasures of all workspaces, in the order of their keys and behind one of them, that began at `begunBy` or before,
   * and on which no process has worked since `idleSince`. A time in the future is one of a clock that was set back since.
   */
  unfinished(begunBy: Date, idleSince: Date, limit: number, behind = BEFORE_ALL): Promise<Erasure[]> {
    const future = new Date(this.clock.now().getTime() + IN_FUTURE_MS);
    return this.database.manager
      .createQueryBuilder(Erasure, 'erasure')
      .where('erasure.finishedAt IS NULL AND (erasure.tenantId, erasure.profileId) > (:tenantId, :profileId)', behind)
      .andWhere('(erasure.erasedAt <= :begunBy OR erasure.erasedAt > :future)', { begunBy, future })
      .andWhere('(erasure.workedAt IS NULL OR erasure.workedAt <= :idleSince OR erasure.workedAt > :future)', {
        idleSince,
      })
      .orderBy({ 'erasure.tenantId': 'ASC', 'erasure.profileId': 'ASC' })
      .limit(limit)
      .getMany();
  }

  /**
   * The progress of an erasure that features do in steps. Starts at the beginning, or where an earlier attempt stopped. Undefined
   * if another process has finished the erasure.
   */
  async steps({ tenantId, profileId }: Erasure): Promise<ErasureProgress | undefined> {
    const now = this.clock.now();
    const [rows]: [{ progress: ErasureProgress }[], number] = await this.database.query(
      `UPDATE erasures SET worked_at = $4, progress = coalesce(progress, $3)
       WHERE tenant_id = $1 AND profile_id = $2 AND finished_at IS NULL RETURNING progress`,
      [tenantId, profileId, JSON.stringify({ begunAt: now.toISOString(), positions: {} }), now],
    );
    return rows[0]?.progress;
  }

  /** The steps of the feature `name`. They throw `unavailable` once `stopped` is aborted, or the erasure is finished elsewhere. */
  stepsOf(
    erasure: Erasure,
    { begunAt, positions }: ErasureProgress,
    name: string,
    stopped: AbortSignal,
  ): Omit<ErasureSteps, 'waitFor'> {
    let notedAtMs = this.clock.monotonicMs();
    const note = async (position: string | null): Promise<void> => {
      const isTime = this.clock.monotonicMs() - notedAtMs >= PROGRESS_INTERVAL_MS;
      if (isTime || (stopped.aborted && position !== null)) {
        if (!(await this.noteWork(erasure, name, position))) throw unavailable();
        notedAtMs = this.clock.monotonicMs();
      }
      if (stopped.aborted) throw unavailable();
    };
    return { begunAt: new Date(begunAt), position: positions[name], goOn: () => note(null), done: note };
  }

  /** The customer of an erasure, by the root id. */
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

  /**
   * Waits for events of a marked customer, and for those that name one of its identifiers, which are being stored. No
   * such event is stored any more when this resolves.
   */
  async waitForEvents({ erasure: { tenantId }, profileIds }: ErasedCustomer): Promise<void> {
    await this.repeated((manager) => this.shutOut(manager, tenantId, profileIds));
  }

  /**
   * Deletes the identifiers of a marked customer. `eraseRest` erases the data of other features in the same
   * transaction.
   */
  async finish(customer: ErasedCustomer, eraseRest: (manager: EntityManager) => Promise<void>): Promise<Erasure> {
    return this.repeated((manager) => this.deleteIdentifiers(manager, customer, eraseRest));
  }

  /**
   * Accepts events of an erased person again, by any of their identifiers. Returns the number of identifiers; 0 if no
   * person with this one was erased.
   */
  lift(tenantId: string, identifier: Identifier, actor: AuditActor): Promise<number> {
    return this.database.transaction(async (manager) => {
      const profileIds = await this.erased.lift(manager, tenantId, identifier);
      for (const recordId of new Set(profileIds)) {
        await this.log.note(manager, tenantId, { kind: 'erasure', action: 'lifted', recordId, name: '', ...actor });
      }
      return profileIds.length;
    });
  }

  /** The ids of all profiles of a customer by one of them; `profileId` alone if there is no such profile. */
  private async profileIdsOf(tenantId: string, profileId: string): Promise<readonly string[]> {
    const root = await this.locks.rootOf(this.database.manager, tenantId, profileId);
    if (root === undefined) return [profileId];
    const members = await this.locks.membersOf(this.database.manager, tenantId, root.id);
    return members.map((member) => member.profileId);
  }

  /** Marks nobody if the profile has got another root meanwhile: an undo may have left this one to another person. */
  private async mark(
    manager: EntityManager,
    tenantId: string,
    profileId: string,
    rootId: string,
    { by, address }: AuditActor,
  ): Promise<void> {
    if (!(await this.locks.lockRoot(manager, tenantId, rootId))) return;
    const members = await this.locks.membersOf(manager, tenantId, rootId);
    if (!members.some((member) => member.profileId === profileId)) return;
    const erasedAt = this.clock.now();
    await manager.query(
      `UPDATE profiles SET erased_at = $3, version = version + 1 WHERE tenant_id = $1 AND profile_id = ANY($2)`,
      [tenantId, members.map(({ profileId }) => profileId), erasedAt],
    );
    await insertErasure(manager, { tenantId, profileId: rootId, erasedAt, by, address });
  }

  private async deleteIdentifiers(
    manager: EntityManager,
    { erasure, profileIds, identifiers }: ErasedCustomer,
    eraseRest: (manager: EntityManager) => Promise<void>,
  ): Promise<Erasure> {
    const { tenantId, profileId, erasedAt } = erasure;
    await this.shutOut(manager, tenantId, profileIds);
    const current = await manager.findOneByOrFail(Erasure, { tenantId, profileId });
    if (current.finishedAt !== null) return current;
    await manager.query(
      `UPDATE profiles SET external_id = NULL, email_count = 0, phone_count = 0, device_count = 0
       WHERE tenant_id = $1 AND profile_id = ANY($2)`,
      [tenantId, profileIds],
    );
    await this.erased.remember(manager, tenantId, identifiers, profileId, erasedAt);
    await manager.query(
      `DELETE FROM profile_identifiers WHERE tenant_id = $1 AND profile_id = ANY($2) AND kind <> ''`,
      [tenantId, profileIds],
    );
    await eraseRest(manager);
    await this.unlinked.forget(manager, tenantId, identifiers);
    const finishedAt = this.clock.now();
    await manager.update(Erasure, { tenantId, profileId }, { finishedAt });
    return Object.assign(current, { finishedAt });
  }

  /** Waits for transactions that hold the profiles. Those that come to hold them later see that they are marked. */
  private async shutOut(manager: EntityManager, tenantId: string, profileIds: readonly string[]): Promise<void> {
    await manager.query(
      `SELECT 1 FROM profiles WHERE tenant_id = $1 AND profile_id = ANY($2) ORDER BY profile_id FOR UPDATE`,
      [tenantId, profileIds],
    );
    // Update the rows under this lock: a FOR KEY SHARE of an older statement does not recheck a row that was marked before.
    await manager.query(`UPDATE profiles SET version = version + 1 WHERE tenant_id = $1 AND profile_id = ANY($2)`, [
      tenantId,
      profileIds,
    ]);
  }

  private async repeated<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.database.transaction(work);
      } catch (error) {
        if (databaseFailure(error) !== 'repeat' || attempt === ATTEMPTS_MAX) throw error;
      }
    }
  }

  /** Stores that this process works on an erasure, and its position, if there is one. False: the erasure is finished. */
  private async noteWork({ tenantId, profileId }: Erasure, name: string, position: string | null): Promise<boolean> {
    // Not to_jsonb in the statement: Citus takes no function within COALESCE that may change.
    const json = position === null ? null : JSON.stringify(position);
    const [, noted]: [unknown, number] = await this.database.query(
      `UPDATE erasures SET worked_at = $5,
         progress = coalesce(jsonb_set(progress, ARRAY['positions', $3], $4::jsonb), progress)
       WHERE tenant_id = $1 AND profile_id = $2 AND finished_at IS NULL`,
      [tenantId, profileId, name, json, this.clock.now()],
    );
    return noted > 0;
  }
}

async function insertErasure(
  manager: EntityManager,
  begun: Pick<Erasure, 'tenantId' | 'profileId' | 'erasedAt' | 'by' | 'address'>,
): Promise<void> {
  await manager.insert(Erasure, { ...begun, progress: null, workedAt: null, finishedAt: null });
}
