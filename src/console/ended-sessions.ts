import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { handleInSteps } from '../platform/jobs/in-steps';
import { Jobs } from '../platform/jobs/jobs';
import { ConsoleSessions } from './console-sessions';
import { OidcGrants } from './oidc/oidc-grants';

const EVERY_HOUR = '53 * * * *';

/** Removes sessions that have ended without a sign-out, and what they have left. Several nodes may run it at the same time. */
@Injectable()
export class EndedSessions implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    private readonly sessions: ConsoleSessions,
    private readonly grants: OidcGrants,
  ) {}

  onModuleInit(): void {
    const step = async (): Promise<boolean> => {
      const isMore = await this.sessions.removeEnded();
      if (!isMore) await this.grants.removeUnused();
      return isMore;
    };
    handleInSteps(this.jobs, this.database.manager, { name: 'console-sessions', cron: EVERY_HOUR, step });
  }
}
