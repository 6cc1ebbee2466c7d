import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { NIL_UUID } from '../platform/values/uuid';
import { handleInSteps } from '../platform/jobs/in-steps';
import { Jobs } from '../platform/jobs/jobs';

const EVERY_HOUR = '27 * * * *';
/** Rows of one statement: few enough to hold their locks for milliseconds. */
const ROWS_PER_STATEMENT = 500;

/**
 * Removes review entries that were closed long ago: what was done about them has been done, and nobody looks for them any more.
 * Open ones stay until somebody closes them. Any number of nodes may do it at once.
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
      ...{ name: 'closed-review-entries', cron: EVERY_HOUR },
      step: () => this.step(),
    });
  }

  /** Takes up to 500 entries of the first workspace that has some; answers whether there may be more. */
  async step(): Promise<boolean> {
    for (let tenantId = await this.nextTenant(NIL_UUID); tenantId !== undefined;) {
      const marked = await this.mark(tenantId);
      const removed = await this.remove(tenantId);
      if (marked === ROWS_PER_STATEMENT || removed === ROWS_PER_STATEMENT) return true;
      tenantId = await this.nextTenant(tenantId);
    }
    return false;
  }

  /** The next workspace with closed entries: one probe of the index, however many entries there are. */
  private async nextTenant(after: string): Promise<string | undefined> {
    const rows: { tenant_id: string }[] = await this.database.query(
      `SELECT tenant_id FROM review_entries WHERE tenant_id > $1 AND status <> 'open'
       ORDER BY tenant_id, closed_at LIMIT 1`,
      [after],
    );
    return rows[0]?.tenant_id;
  }

  /** Entries that a version without this column has closed: their time begins now. */
  private async mark(tenantId: string): Promise<number> {
    return this.change(
      `UPDATE review_entries e SET closed_at = clock_timestamp()
       FROM (
         SELECT tenant_id, id FROM review_entries
         WHERE tenant_id = $1 AND status <> 'open' AND closed_at IS NULL
         LIMIT $2 FOR UPDATE SKIP LOCKED
       ) closed
       WHERE e.tenant_id = closed.tenant_id AND e.id = closed.id`,
      [tenantId, ROWS_PER_STATEMENT],
    );
  }

  /** The row that is locked is looked at once more: it may have been opened again meanwhile. */
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
