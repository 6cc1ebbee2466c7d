import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { queryOf } from '../platform/postgres/one-workspace';
import type { Dismissal, FailedReplay } from './domain/resolution';
import { OPEN_REFUSALS, SUPERSEDE_ENTRIES } from './review.sql';

/**
 * Stores what users do about entries. An accepted event closes its entries in the ingest transaction (`ReviewService`).
 */
@Injectable()
export class ReviewResolutions {
  constructor(
    private readonly database: DataSource,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {}

  /** Closes an open entry. Has no effect on a closed one. */
  async dismiss(tenantId: string, id: string, dismissal: Dismissal): Promise<void> {
    await this.database.query(
      `UPDATE review_entries SET status = 'dismissed', closed_at = statement_timestamp(), resolution = $3::jsonb
       WHERE tenant_id = $1 AND id = $2 AND status = 'open'`,
      [tenantId, id, JSON.stringify(dismissal)],
    );
  }

  /**
   * Counts failed replays as occurrences of entries that are still open, and stores the last attempt in `resolution`.
   */
  async noteFailures(tenantId: string, failures: readonly FailedReplay[]): Promise<void> {
    if (failures.length === 0) return;
    await this.database.query(
      `UPDATE review_entries e
       SET resolution = f.resolution, occurrences = e.occurrences + 1,
         last_seen_at = greatest(e.last_seen_at, f.at)
       FROM (
         SELECT id, resolution, at FROM json_to_recordset($2::json) AS r (id uuid, resolution jsonb, at timestamptz)
         ORDER BY id
       ) f
       WHERE e.tenant_id = $1 AND e.id = f.id AND e.status = 'open'`,
      [tenantId, JSON.stringify(failures.map((each) => ({ ...each, at: each.resolution.at })))],
    );
  }

  /** The next workspace, in the order of ids, with open refusals of events. */
  async nextWorkspaceWithRefusals(after: string): Promise<string | undefined> {
    const rows: { tenant_id: string }[] = await this.database.query(
      `SELECT tenant_id ${OPEN_REFUSALS} AND tenant_id > $1 ORDER BY tenant_id, event_id LIMIT 1`,
      [after],
    );
    return rows[0]?.tenant_id;
  }

  /** The next events, in the order of ids, that have open refusals. Failures of their processing do not count. */
  async refusedEvents(tenantId: string, after: string, limit: number): Promise<readonly string[]> {
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
