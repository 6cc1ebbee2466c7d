import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { describeError } from '../platform/errors/error-summary';
import { Jobs } from '../platform/jobs/jobs';
import { Clock } from '../platform/values/clock';
import { WebhookRuleChanges } from './webhook-rule-changes';
import { WebhookRepository } from './webhook.repository';

const JOB = 'webhook-rules-ahead';
const EVERY_HOUR = '43 * * * *';
/** Of one job; another one takes the rest. */
const WORKSPACES_MAX = 100;

/** A rule begins a second after it was written at the latest. */
const IS_AHEAD = `applies_from > statement_timestamp() + interval '1 minute'`;
const FIND_WORKSPACES = `
  SELECT tenant_id FROM webhook_rules WHERE ${IS_AHEAD} GROUP BY tenant_id ORDER BY tenant_id LIMIT $1`;
const BEGIN_RULES = `UPDATE webhook_rules SET applies_from = $2::timestamptz WHERE tenant_id = $1 AND ${IS_AHEAD}`;

/**
 * Lets rules begin that were written while the database's clock was ahead. Else an endpoint would get nothing, and no
 * delivery would say so, until the clock shows that time again.
 */
@Injectable()
export class RulesAhead implements OnModuleInit {
  private readonly logger = new Logger(RulesAhead.name);

  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    private readonly webhooks: WebhookRepository,
    private readonly changes: WebhookRuleChanges,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.jobs.handle(JOB, ({ since }) => this.begin(since), { cron: EVERY_HOUR });
    this.clock.onSetBack((since) => {
      this.add(since.toISOString()).catch((error: unknown) => this.logger.error(describeError(error).line));
    });
  }

  /** `since`: the earliest time that the clock can have shown since it was set back; absent where it is not known. */
  private async begin(since = this.clock.now().toISOString()): Promise<void> {
    const rows: { tenant_id: string }[] = await this.database.query(FIND_WORKSPACES, [WORKSPACES_MAX]);
    for (const { tenant_id: tenantId } of rows) {
      await this.changes.run(tenantId, async (manager, replace) => {
        const rules = (await this.webhooks.all(manager, tenantId, { locks: false })).flatMap((each) => each.rules);
        replace(rules, rules);
        await manager.query(BEGIN_RULES, [tenantId, since]);
      });
    }
    if (rows.length === WORKSPACES_MAX) await this.add(since);
  }

  private add(since: string): Promise<void> {
    return this.jobs.add(this.database.manager, JOB, { since }, { key: 'set-back' });
  }
}
