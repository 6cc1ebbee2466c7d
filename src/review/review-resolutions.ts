import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Dismissal, FailedReplay } from './domain/resolution';

/**
 * Stores what users do about entries. An accepted event closes its entries in the ingest transaction (`ReviewService`).
 */
@Injectable()
export class ReviewResolutions {
  constructor(private readonly database: DataSource) {}

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
}
