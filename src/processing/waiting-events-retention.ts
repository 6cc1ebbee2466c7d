import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Reading } from '../ingest/queue/event-queue';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { queryOf } from '../platform/postgres/one-workspace';
import type { Statement } from '../platform/postgres/statement';
import { NIL_UUID } from '../platform/values/uuid';
import { handleInParts } from '../platform/jobs/in-steps';
import { Jobs, type JobPayload } from '../platform/jobs/jobs';
import {
  PersonalData,
  type Person,
  type PersonalDataKeeper,
  type PersonalRecord,
} from '../platform/privacy/personal-data';
import { SerialConnection } from './serial-connection';
import { NEXT_WAITING_TENANT } from './waiting-events.sql';
import { WaitingEvents } from './waiting-events';

const EVERY_HOUR = '57 * * * *';
/** Per transaction: few enough to hold their locks for milliseconds. */
const EVENTS_PER_STEP = 200;

/**
 * Removes waiting events whose customer was not linked in time, or was erased. Any number of nodes may do it at once.
 */
@Injectable()
export class WaitingEventsRetention implements PersonalDataKeeper, OnModuleInit {
  readonly name = 'waiting_events';

  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    private readonly serial: SerialConnection,
    private readonly waiting: WaitingEvents,
    private readonly data: PersonalData,
    @Inject(SETTINGS_TOKEN) private readonly settings: Settings,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {}

  onModuleInit(): void {
    this.data.register(this);
    const steps = (from: JobPayload): AsyncIterable<JobPayload> => this.expireOld(from);
    handleInParts(this.jobs, this.database.manager, 'waiting-events', steps, { cron: EVERY_HOUR });
  }

  /** Of all workspaces, in steps of 200 events, each of which gives the workspace behind which another call goes on. */
  async *expireOld({ tenantId: behind = NIL_UUID }: JobPayload): AsyncGenerator<JobPayload> {
    for (let tenantId = await this.nextTenant(behind); tenantId !== undefined;) {
      while ((await this.expire(tenantId)) === EVENTS_PER_STEP) yield { tenantId: behind };
      behind = tenantId;
      yield { tenantId: behind };
      tenantId = await this.nextTenant(behind);
    }
  }

  /** Exports nothing: the exported events show which reactions wait. */
  exportOf(): AsyncIterable<PersonalRecord> {
    return (async function* none(): AsyncGenerator<PersonalRecord> {})();
  }

  async eraseAhead(person: Person): Promise<boolean> {
    for (let erased = EVENTS_PER_STEP; erased === EVENTS_PER_STEP;) {
      erased = await this.database.transaction((manager) => this.eraseSome(manager, person));
    }
    return true;
  }

  async erase(manager: EntityManager, person: Person): Promise<void> {
    for (let erased = EVENTS_PER_STEP; erased === EVENTS_PER_STEP;) erased = await this.eraseSome(manager, person);
  }

  private eraseSome(manager: EntityManager, { tenantId, profileIds }: Person): Promise<number> {
    // TypeORM returns [rows, count] for a statement that changes rows.
    const run: Reading = async <T>(statement: Statement, values: readonly unknown[]): Promise<readonly T[]> => {
      const [rows]: [T[], number] = await manager.query(...queryOf(statement, values, this.connection));
      return rows;
    };
    return this.waiting.erase(run, tenantId, profileIds, EVENTS_PER_STEP);
  }

  private expire(tenantId: string): Promise<number> {
    const { reactionLinkDays } = this.settings;
    return this.serial.transaction(tenantId, (open) =>
      this.waiting.expire(open, tenantId, reactionLinkDays, EVENTS_PER_STEP),
    );
  }

  private async nextTenant(after: string): Promise<string | undefined> {
    const rows: { tenant_id: string }[] = await this.database.query(NEXT_WAITING_TENANT.text, [after]);
    return rows[0]?.tenant_id;
  }
}
