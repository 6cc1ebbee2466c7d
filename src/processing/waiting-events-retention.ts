import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Reading } from '../ingest/queue/event-queue';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { queryOf } from '../platform/postgres/one-workspace';
import type { Statement } from '../platform/postgres/statement';
import { NIL_UUID } from '../platform/values/uuid';
import { handleInSteps } from '../platform/jobs/in-steps';
import { Jobs } from '../platform/jobs/jobs';
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
    handleInSteps(this.jobs, this.database.manager, {
      name: 'waiting-events',
      cron: EVERY_HOUR,
      step: () => this.step(),
    });
  }

  /** Expires up to 200 events of the first workspace that has some; returns whether there may be more. */
  async step(): Promise<boolean> {
    for (let tenantId = await this.nextTenant(NIL_UUID); tenantId !== undefined;) {
      if ((await this.expire(tenantId)) === EVENTS_PER_STEP) return true;
      tenantId = await this.nextTenant(tenantId);
    }
    return false;
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
