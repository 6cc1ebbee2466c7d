import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../platform/clock/clock';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { Jobs } from '../platform/jobs/jobs';

const DAY_MS = 24 * 60 * 60 * 1000;
const EVERY_HOUR = '17 * * * *';
/** Rows of one statement: few enough to hold their locks for milliseconds. */
const ROWS_PER_STATEMENT = 500;

/** Lets go of payloads that have been kept for replay long enough (contract section 7); the entries stay. */
@Injectable()
export class ReviewRetention implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly clock: Clock,
    private readonly jobs: Jobs,
    @Inject(SETTINGS_TOKEN) private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    const work = async (): Promise<void> => {
      await this.removeOldPayloads();
    };
    this.jobs.handle('review-retention', work, { cron: EVERY_HOUR });
  }

  /** Answers how many payloads it has removed. Any number of nodes may do it at once. */
  async removeOldPayloads(): Promise<number> {
    const kept = new Date(this.clock.now().getTime() - this.settings.reviewPayloadDays * DAY_MS);
    let removed = 0;
    for (let rows = ROWS_PER_STATEMENT; rows === ROWS_PER_STATEMENT; removed += rows) {
      const [, count]: [unknown, number] = await this.database.query(
        `UPDATE review_entries e SET payload = NULL
         FROM (
           SELECT tenant_id, id FROM review_entries
           WHERE last_seen_at < $1 AND payload IS NOT NULL
           LIMIT $2 FOR UPDATE SKIP LOCKED
         ) old
         WHERE e.tenant_id = old.tenant_id AND e.id = old.id`,
        [kept, ROWS_PER_STATEMENT],
      );
      rows = count;
    }
    return removed;
  }
}
