import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { queryOf } from '../platform/postgres/one-workspace';
import { OPEN_REFUSALS, SUPERSEDE_ENTRIES } from './review.sql';

/** The open refusals of events, for a job that looks which of these events are stored (`RefusalsOfStoredEvents`). */
@Injectable()
export class OpenRefusals {
  constructor(
    private readonly database: DataSource,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {}

  /** The next workspace, in the order of ids, with open refusals of events. */
  async nextWorkspace(after: string): Promise<string | undefined> {
    const rows: { tenant_id: string }[] = await this.database.query(
      `SELECT tenant_id ${OPEN_REFUSALS} AND tenant_id > $1 ORDER BY tenant_id, event_id LIMIT 1`,
      [after],
    );
    return rows[0]?.tenant_id;
  }

  /** The next events, in the order of ids, that have open refusals. Failures of their processing do not count. */
  async eventsOf(tenantId: string, after: string, limit: number): Promise<readonly string[]> {
    const rows: { event_id: string }[] = await this.database.query(
      `SELECT DISTINCT event_id ${OPEN_REFUSALS} AND tenant_id = $1 AND event_id > $2 ORDER BY event_id LIMIT $3`,
      [tenantId, after, limit],
    );
    return rows.map((row) => row.event_id);
  }

  /** Closes the open refusals of events that are stored. */
  async supersede(tenantId: string, eventIds: readonly string[]): Promise<void> {
    if (eventIds.length === 0) return;
    const query = queryOf(SUPERSEDE_ENTRIES, [eventIds.map(() => tenantId), eventIds], this.connection);
    await this.database.query(...query);
  }
}
