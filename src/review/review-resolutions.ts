import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { queryOf } from '../platform/postgres/one-workspace';
import type { Statement } from '../platform/postgres/statement';
import type { Dismissal, FailedReplay } from './domain/resolution';

/** Failed replays ($3, $4) of entries ($2) that are still open, each of which is found by its key (docs/adr/0092). */
export const NOTE_FAILURES: Statement = {
  name: 'review_note_failures',
  text: `
    WITH failed AS MATERIALIZED (
      SELECT $1::uuid AS tenant_id, id, resolution, at
      FROM unnest($2::uuid[], $3::text[], $4::timestamptz[]) AS each (id, resolution, at)
      ORDER BY id
    )
    UPDATE review_entries e
    SET resolution = f.resolution::jsonb, occurrences = e.occurrences + 1, last_seen_at = greatest(e.last_seen_at, f.at)
    FROM failed f
    WHERE e.tenant_id = f.tenant_id AND e.id = f.id AND e.status = 'open'`,
};

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
    const values = [
      tenantId,
      failures.map(({ id }) => id),
      failures.map(({ resolution }) => JSON.stringify(resolution)),
      failures.map(({ resolution }) => resolution.at),
    ];
    await this.database.query(...queryOf(NOTE_FAILURES, values, this.connection));
  }
}
