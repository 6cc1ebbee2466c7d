import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../platform/values/clock';
import { firstIdAt } from '../../platform/values/ids';
import { NIL_UUID } from '../../platform/values/uuid';
import { handleInSteps } from '../../platform/jobs/in-steps';
import { Jobs } from '../../platform/jobs/jobs';

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long the time is kept at which an event left the queue. That it has left stays known: it is not in the queue. */
export const PROCESSED_BUNDLE_DAYS = 30;
const EVERY_HOUR = '37 * * * *';
/** Rows of one statement: few enough to hold their locks for milliseconds. */
const ROWS_PER_STATEMENT = 1_000;

/** Removes the times at which bundles left the queue, a row for each commit. Any number of nodes may do it at once. */
@Injectable()
export class BundleRetention implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly clock: Clock,
    private readonly jobs: Jobs,
  ) {}

  onModuleInit(): void {
    const { manager } = this.database;
    handleInSteps(this.jobs, manager, { name: 'processed-bundles', cron: EVERY_HOUR, step: () => this.step() });
  }

  /** Takes up to 1,000 rows of the first workspace that has some; returns whether there may be more. */
  async step(): Promise<boolean> {
    const kept = new Date(this.clock.now().getTime() - PROCESSED_BUNDLE_DAYS * DAY_MS);
    for (let tenantId = await this.nextTenant(NIL_UUID); tenantId !== undefined;) {
      if ((await this.remove(tenantId, kept)) === ROWS_PER_STATEMENT) return true;
      tenantId = await this.nextTenant(tenantId);
    }
    return false;
  }

  /** One probe of the key's index, however many rows there are. */
  private async nextTenant(after: string): Promise<string | undefined> {
    const rows: { tenant_id: string }[] = await this.database.query(
      'SELECT tenant_id FROM processed_bundles WHERE tenant_id > $1 ORDER BY tenant_id, id LIMIT 1',
      [after],
    );
    return rows[0]?.tenant_id;
  }

  /** Ids sort by when they were made, which is before they were processed: the old ones are at the front of the key. */
  private async remove(tenantId: string, kept: Date): Promise<number> {
    const [, count]: [unknown, number] = await this.database.query(
      `DELETE FROM processed_bundles b
       USING (
         SELECT tenant_id, id FROM processed_bundles
         WHERE tenant_id = $1 AND id < $2::uuid AND processed_at < now() - make_interval(days => $3)
         ORDER BY tenant_id, id LIMIT $4 FOR UPDATE SKIP LOCKED
       ) old
       WHERE b.tenant_id = old.tenant_id AND b.id = old.id`,
      [tenantId, firstIdAt(kept), PROCESSED_BUNDLE_DAYS, ROWS_PER_STATEMENT],
    );
    return count;
  }
}
