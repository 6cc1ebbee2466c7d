import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Jobs } from '../platform/jobs/jobs';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { queryOf } from '../platform/postgres/one-workspace';
import { NIL_UUID } from '../platform/values/uuid';
import { ReviewResolutions } from '../review/review-resolutions';
import { FIND_EVENTS } from './store/event.sql';

const EVERY_TEN_MINUTES = '*/10 * * * *';
/** Refusals of one statement: some milliseconds. */
const REFUSALS_PER_STEP = 500;

/**
 * Closes refusals of events that are stored. The transaction that stores an event closes its refusals; a refusal that
 * another process commits at the same moment is seen by neither, and would stay open. Any number of nodes may do it.
 */
@Injectable()
export class RefusalsOfStoredEvents implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    private readonly resolutions: ReviewResolutions,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {}

  onModuleInit(): void {
    this.jobs.handle('refusals-of-stored-events', () => this.closeAll(), { cron: EVERY_TEN_MINUTES });
  }

  async closeAll(): Promise<void> {
    let tenantId = await this.resolutions.nextWorkspaceWithRefusals(NIL_UUID);
    while (tenantId !== undefined) {
      await this.closeOf(tenantId);
      tenantId = await this.resolutions.nextWorkspaceWithRefusals(tenantId);
    }
  }

  private async closeOf(tenantId: string): Promise<void> {
    let last: string | undefined = NIL_UUID;
    while (last !== undefined) {
      const refused = await this.resolutions.refusedEvents(tenantId, last, REFUSALS_PER_STEP);
      await this.resolutions.supersede(tenantId, await this.storedAmong(tenantId, refused));
      last = refused.length < REFUSALS_PER_STEP ? undefined : refused.at(-1);
    }
  }

  private async storedAmong(tenantId: string, eventIds: readonly string[]): Promise<readonly string[]> {
    if (eventIds.length === 0) return [];
    const query = queryOf(FIND_EVENTS, [eventIds.map(() => tenantId), eventIds], this.connection);
    const rows: { position: string }[] = await this.database.query(...query);
    return rows.map(({ position }) => eventIds[Number(position) - 1] ?? '');
  }
}
