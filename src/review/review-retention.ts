import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { queryOf } from '../platform/postgres/one-workspace';
import type { Statement } from '../platform/postgres/statement';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { handleInParts } from '../platform/jobs/in-steps';
import { Jobs, type JobPayload } from '../platform/jobs/jobs';
import { NIL_UUID } from '../platform/values/uuid';

const RETENTION_JOB = 'review-retention';
const EVERY_HOUR = '17 * * * *';
/** Rows that one statement looks at: few enough that it holds the locks of those that it changes for milliseconds. */
export const ROWS_PER_STATEMENT = 500;
/**
 * Bytes of the payloads of one statement, unless one payload alone has more: PostgreSQL deletes large ones in pieces of
 * 2 KiB.
 */
export const BYTES_PER_STATEMENT = 16 * 1024 * 1024;
/** Byte counts of older days are not used any more. */
const DAYS_COUNTED = 2;

/** The entry that a step has looked at last. */
interface LastEntry {
  readonly id: string;
  /** With microseconds, which a Date cannot hold. */
  readonly seen_at: string;
}

/** Removes payloads after REVIEW_PAYLOAD_DAYS (contract section 7). The entries stay. */
@Injectable()
export class ReviewRetention implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    @Inject(SETTINGS_TOKEN) private readonly settings: Settings,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {}

  onModuleInit(): void {
    const steps = (from: JobPayload): AsyncIterable<JobPayload> => this.removeOld(from);
    handleInParts(this.jobs, this.database.manager, RETENTION_JOB, steps, { cron: EVERY_HOUR });
  }

  /** The counts once, behind the last part of a pass. */
  private async *removeOld(from: JobPayload): AsyncGenerator<JobPayload> {
    yield* this.removeOldPayloads(from);
    await this.removeOldCounts();
  }

  /**
   * In steps, each of which gives the entry behind which another call goes on. Every old entry is looked at once, so a pass
   * costs the same whether much is to be removed or nothing. Several nodes may run it at the same time.
   */
  async *removeOldPayloads(from: JobPayload): AsyncGenerator<JobPayload> {
    const { reviewPayloadDays } = this.settings;
    let { seenAt = '-infinity', id = NIL_UUID } = from;
    let tenantId = from['tenantId'] ?? (await this.nextTenant(NIL_UUID));
    while (tenantId !== undefined) {
      const values = [tenantId, seenAt, id, reviewPayloadDays, ROWS_PER_STATEMENT, BYTES_PER_STATEMENT];
      const [last]: LastEntry[] = await this.database.query(...queryOf(REMOVE_OLD_PAYLOADS, values, this.connection));
      if (last === undefined) tenantId = await this.nextTenant(tenantId);
      seenAt = last?.seen_at ?? '-infinity';
      id = last?.id ?? NIL_UUID;
      if (tenantId !== undefined) yield { tenantId, seenAt, id };
    }
  }

  /** The next workspace with entries: one probe of the key's index, however many there are. */
  private async nextTenant(after: string): Promise<string | undefined> {
    const rows: { tenant_id: string }[] = await this.database.query(
      'SELECT tenant_id FROM review_entries WHERE tenant_id > $1 ORDER BY tenant_id, id LIMIT 1',
      [after],
    );
    return rows[0]?.tenant_id;
  }

  private async removeOldCounts(): Promise<void> {
    await this.database.query(
      `DELETE FROM review_bytes WHERE day < (statement_timestamp() AT TIME ZONE 'UTC')::date - $1::int`,
      [DAYS_COUNTED],
    );
  }
}

const IS_OLD = 'payload IS NOT NULL AND last_seen_at < now() - make_interval(days => $4)';

/**
 * Removes the payloads of old entries behind ($2, $3), in the order in which they were first seen: of $5 entries at most,
 * and $6 bytes. Answers the last entry that it has looked at. Those that somebody has locked are left for the next pass.
 *
 * An entry is never older than it was first seen, so the index of the list has what may be old at its beginning. An index of
 * payloads by their age would be written with every repetition of a problem.
 */
export const REMOVE_OLD_PAYLOADS: Statement = {
  name: 'review_remove_old_payloads',
  text: `
    WITH page AS MATERIALIZED (
      SELECT id, first_seen_at, ${IS_OLD} AS is_old, CASE WHEN ${IS_OLD} THEN octet_length(payload) ELSE 0 END AS bytes
      FROM review_entries
      WHERE tenant_id = $1::uuid AND (first_seen_at, id) > ($2::timestamptz, $3::uuid)
        AND first_seen_at < now() - make_interval(days => $4) AND first_seen_at > '-infinity'
      ORDER BY first_seen_at, id LIMIT $5
    ), sized AS MATERIALIZED (
      SELECT *, sum(bytes) OVER (ORDER BY first_seen_at, id) AS so_far FROM page
    ), taken AS MATERIALIZED (
      SELECT id, first_seen_at, is_old FROM sized WHERE so_far <= $6 OR (is_old AND so_far = bytes)
    ), locked AS MATERIALIZED (
      SELECT e.tenant_id, e.id FROM taken t
      CROSS JOIN LATERAL (
        SELECT tenant_id, id FROM review_entries
        WHERE tenant_id = $1::uuid AND id = t.id AND ${IS_OLD} LIMIT 1 FOR UPDATE SKIP LOCKED
      ) e
      WHERE t.is_old
    ), removed AS (
      UPDATE review_entries e SET payload = NULL FROM locked l
      WHERE e.tenant_id = l.tenant_id AND e.id = l.id
    )
    SELECT id, first_seen_at::text AS seen_at FROM taken ORDER BY first_seen_at DESC, id DESC LIMIT 1`,
};
