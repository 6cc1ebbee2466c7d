import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { handleInSteps } from '../platform/jobs/in-steps';
import { Jobs } from '../platform/jobs/jobs';
import { ConsoleSessions } from './console-sessions';

const EVERY_HOUR = '47 * * * *';

/** Removes sessions that have ended without a sign-out. Several nodes may run it at the same time. */
@Injectable()
export class EndedSessions implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    private readonly sessions: ConsoleSessions,
  ) {}

  onModuleInit(): void {
    const step = (): Promise<boolean> => this.sessions.removeEnded();
    handleInSteps(this.jobs, this.database.manager, { name: 'console-sessions', cron: EVERY_HOUR, step });
  }
}
