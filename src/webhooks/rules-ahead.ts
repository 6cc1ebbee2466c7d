import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Jobs } from '../platform/jobs/jobs';
import { APPLIES_LATER, handleTimesAhead } from '../platform/jobs/times-ahead';
import { Clock } from '../platform/values/clock';
import { WebhookRuleUpdates } from './webhook-rule-updates';
import { WebhookRepository } from './webhook.repository';

const APPLY = `UPDATE webhook_rules SET applies_from = $2::timestamptz WHERE tenant_id = $1 AND ${APPLIES_LATER}`;

/** Lets rules apply that were written while the database's clock was ahead. */
@Injectable()
export class RulesAhead implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    private readonly webhooks: WebhookRepository,
    private readonly updates: WebhookRuleUpdates,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    const { database, jobs, clock } = this;
    handleTimesAhead(
      { database, jobs, clock },
      {
        name: 'webhook-rules-ahead',
        cron: '43 * * * *',
        table: 'webhook_rules',
        apply: (tenantId, since) =>
          this.updates.run(tenantId, async (manager, replace) => {
            const rules = (await this.webhooks.all(manager, tenantId, { locks: false })).flatMap((each) => each.rules);
            replace(rules, rules);
            await manager.query(APPLY, [tenantId, since]);
          }),
      },
    );
  }
}
