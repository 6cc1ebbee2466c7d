import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { Jobs } from '../platform/jobs/jobs';
import { NIL_UUID } from '../platform/values/uuid';

const EVERY_HOUR = '17 * * * *';
/** Rows of one statement: few enough that it holds their locks for milliseconds. */
const ROWS_PER_STATEMENT = 500;
/**
 * Bytes of the payloads of one statement, unless one payload alone has more: PostgreSQL deletes large ones in pieces of
 * 2 KiB.
 */
const BYTES_PER_STATEMENT = 16 * 1024 * 1024;
/** Byte counts of older days are not used any more. */
const DAYS_COUNTED = 2;

/** Removes payloads after REVIEW_PAYLOAD_DAYS (contract section 7). The entries stay. */
@Injectable()
export class ReviewRetention implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    @Inject(SETTINGS_TOKEN) private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    const work = async (): Promise<void> => {
      await this.removeOldPayloads();
      await this.removeOldCounts();
    };
    this.jobs.handle('review-retention', work, { cron: EVERY_HOUR });
  }

  /** Returns the number of removed payloads. Several nodes may run it at the same time. */
  async removeOldPayloads(): Promise<number> {
    let removed = 0;
    for (let tenantId = await this.nextTenant(NIL_UUID); tenantId !== undefined;) {
      const rows = await this.removeOf(tenantId);
      removed += rows;
      if (rows === 0) tenantId = await this.nextTenant(tenantId);
    }
    return removed;
  }

  /** The next workspace with a payload that is too old. */
  private async nextTenant(after: string): Promise<string | undefined> {
    const rows: { tenant_id: string }[] = await this.database.query(
      `SELECT tenant_id FROM review_entries
       WHERE tenant_id > $1 AND last_seen_at < now() - make_interval(days => $2) AND payload IS NOT NULL
       ORDER BY tenant_id LIMIT 1`,
      [after, this.settings.reviewPayloadDays],
    );
    return rows[0]?.tenant_id;
  }

  private async removeOf(tenantId: string): Promise<number> {
    const [, count]: [unknown, number] = await this.database.query(REMOVE_OLD_PAYLOADS, [
      tenantId,
      this.settings.reviewPayloadDays,
      ROWS_PER_STATEMENT,
      BYTES_PER_STATEMENT,
    ]);
    return count;
  }

  private async removeOldCounts(): Promise<void> {
    await this.database.query(
      `DELETE FROM review_bytes WHERE day < (statement_timestamp() AT TIME ZONE 'UTC')::date - $1::int`,
      [DAYS_COUNTED],
    );
  }
}

const REMOVE_OLD_PAYLOADS = `
  WITH old AS MATERIALIZED (
    SELECT id, octet_length(payload) AS bytes FROM review_entries
    WHERE tenant_id = $1 AND last_seen_at < now() - make_interval(days => $2) AND payload IS NOT NULL
    LIMIT $3 FOR UPDATE SKIP LOCKED
  ), sized AS MATERIALIZED (
    SELECT id, bytes, sum(bytes) OVER (ORDER BY id) AS so_far FROM old
  )
  UPDATE review_entries e SET payload = NULL
  FROM sized WHERE e.tenant_id = $1 AND e.id = sized.id AND (so_far <= $4 OR so_far = bytes)`;
