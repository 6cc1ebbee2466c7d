import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { NIL_UUID } from '../platform/values/uuid';
import { handleInSteps } from '../platform/jobs/in-steps';
import { Jobs } from '../platform/jobs/jobs';

const EVERY_HOUR = '27 * * * *';
/** Rows of one statement: few enough that it holds their locks for milliseconds. */
const ROWS_PER_STATEMENT = 500;

/**
 * Removes review entries REVIEW_CLOSED_DAYS after they were closed. Open entries stay. Several nodes may run it at the
 * same time.
 */
@Injectable()
export class ClosedEntryRetention implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    @Inject(SETTINGS_TOKEN) private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    const { manager } = this.database;
    handleInSteps(this.jobs, manager, {
      name: 'closed-review-entries',
      cron: EVERY_HOUR,
      step: () => this.step(),
    });
  }

  /** Removes up to 500 entries of the first workspace that has some. Returns whether there may be more. */
  async step(): Promise<boolean> {
    for (let tenantId = await this.nextTenant(NIL_UUID); tenantId !== undefined;) {
      const marked = await this.mark(tenantId);
      const removed = await this.remove(tenantId);
      if (marked === ROWS_PER_STATEMENT || removed === ROWS_PER_STATEMENT) return true;
      tenantId = await this.nextTenant(tenantId);
    }
    return false;
  }

  /** The next workspace with closed entries. One index probe, independent of the number of entries. */
  private async nextTenant(after: string): Promise<string | undefined> {
    const rows: { tenant_id: string }[] = await this.database.query(
      `SELECT tenant_id FROM review_entries WHERE tenant_id > $1 AND status <> 'open'
       ORDER BY tenant_id, closed_at LIMIT 1`,
      [after],
    );
    return rows[0]?.tenant_id;
  }

  /** Sets `closed_at` of entries that an older version of the service closed without it: their retention starts now. */
  private async mark(tenantId: string): Promise<number> {
    return this.change(MARK_CLOSED, [tenantId, ROWS_PER_STATEMENT]);
  }

  /** PostgreSQL rechecks the condition after locking a row, because the entry may have been reopened meanwhile. */
  private async remove(tenantId: string): Promise<number> {
    return this.change(
      `DELETE FROM review_entries e
       USING (
         SELECT tenant_id, id FROM review_entries
         WHERE tenant_id = $1 AND status <> 'open' AND closed_at < now() - make_interval(days => $3)
         ORDER BY tenant_id, closed_at LIMIT $2 FOR UPDATE SKIP LOCKED
       ) old
       WHERE e.tenant_id = old.tenant_id AND e.id = old.id`,
      [tenantId, ROWS_PER_STATEMENT, this.settings.reviewClosedDays],
    );
  }

  private async change(statement: string, values: readonly unknown[]): Promise<number> {
    const [, count]: [unknown, number] = await this.database.query(statement, [...values]);
    return count;
  }
}

/** The order keeps the plan: open entries have no `closed_at`, so PostgreSQL expects many and would read all entries. */
export const MARK_CLOSED = `
  UPDATE review_entries e SET closed_at = statement_timestamp()
  FROM (
    SELECT tenant_id, id FROM review_entries
    WHERE tenant_id = $1 AND status <> 'open' AND closed_at IS NULL
    ORDER BY tenant_id, closed_at LIMIT $2 FOR UPDATE SKIP LOCKED
  ) closed
  WHERE e.tenant_id = closed.tenant_id AND e.id = closed.id`;
