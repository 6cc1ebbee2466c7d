import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { describeError } from '../platform/errors/error-summary';
import { Jobs } from '../platform/jobs/jobs';
import { Clock } from '../platform/values/clock';
import { ReactionsService } from './reactions.service';

const JOB = 'reactions-ahead';
const EVERY_HOUR = '41 * * * *';
/** Of one job; another one takes the rest. */
const WORKSPACES_MAX = 100;

/** A definition is answered when its time has come, a millisecond later at most. */
const IS_AHEAD = `applies_from > statement_timestamp() + interval '1 minute'`;
const FIND_WORKSPACES = `
  SELECT tenant_id FROM reactions WHERE ${IS_AHEAD} GROUP BY tenant_id ORDER BY tenant_id LIMIT $1`;
const APPLY = `UPDATE reactions SET applies_from = $2::timestamptz WHERE tenant_id = $1 AND ${IS_AHEAD}`;

/**
 * Lets reactions apply that were defined while the database's clock was ahead. Else they would react to nothing until the clock
 * shows that time again.
 */
@Injectable()
export class ReactionsAhead implements OnModuleInit {
  private readonly logger = new Logger(ReactionsAhead.name);

  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    private readonly reactions: ReactionsService,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.jobs.handle(JOB, ({ since }) => this.apply(since), { cron: EVERY_HOUR });
    this.clock.onSetBack((since) => {
      this.add(since.toISOString()).catch((error: unknown) => this.logger.error(describeError(error).line));
    });
  }

  /** `since`: the earliest time that the clock can have shown since it was set back; absent where it is not known. */
  private async apply(since = this.clock.now().toISOString()): Promise<void> {
    const rows: { tenant_id: string }[] = await this.database.query(FIND_WORKSPACES, [WORKSPACES_MAX]);
    for (const { tenant_id: tenantId } of rows) {
      await this.reactions.change(tenantId, (manager) => manager.query(APPLY, [tenantId, since]));
    }
    if (rows.length === WORKSPACES_MAX) await this.add(since);
  }

  private add(since: string): Promise<void> {
    return this.jobs.add(this.database.manager, JOB, { since }, { key: 'set-back' });
  }
}
