import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Jobs } from '../platform/jobs/jobs';
import { APPLIES_LATER, handleTimesAhead } from '../platform/jobs/times-ahead';
import { Clock } from '../platform/values/clock';
import { ReactionsService } from './reactions.service';

const APPLY = `UPDATE reactions SET applies_from = $2::timestamptz WHERE tenant_id = $1 AND ${APPLIES_LATER}`;

/** Lets reactions apply that were defined while the database's clock was ahead. */
@Injectable()
export class ReactionsAhead implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    private readonly reactions: ReactionsService,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    const { database, jobs, clock } = this;
    handleTimesAhead(
      { database, jobs, clock },
      {
        name: 'reactions-ahead',
        cron: '41 * * * *',
        table: 'reactions',
        apply: (tenantId, since) =>
          this.reactions.change(tenantId, (manager) => manager.query(APPLY, [tenantId, since])),
      },
    );
  }
}
