import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { handleInParts } from '../platform/jobs/in-steps';
import { EVERY_TEN_MINUTES, Jobs, type JobPayload } from '../platform/jobs/jobs';
import { NIL_UUID } from '../platform/values/uuid';
import { OpenRefusals } from '../review/open-refusals';
import { StoredCopies } from './store/stored-copies';

const CLOSE_JOB = 'refusals-of-stored-events';
/** Refusals of one statement: some milliseconds. */
const REFUSALS_PER_STEP = 500;

/**
 * Closes refusals of events that are stored. The transaction that stores an event closes its refusals; a refusal that
 * another process commits at the same moment is seen by neither, and would stay open. Any number of nodes may do it.
 */
@Injectable()
export class RefusalsOfStoredEvents implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    private readonly copies: StoredCopies,
    private readonly refusals: OpenRefusals,
  ) {}

  onModuleInit(): void {
    const steps = (from: JobPayload): AsyncIterable<JobPayload> => this.close(from);
    handleInParts(this.jobs, this.database.manager, CLOSE_JOB, steps, { cron: EVERY_TEN_MINUTES });
  }

  /** In steps, each of which gives the event behind which another call goes on. */
  async *close(from: JobPayload): AsyncGenerator<JobPayload> {
    let { tenantId = await this.refusals.nextWorkspace(NIL_UUID), after = NIL_UUID } = from;
    while (tenantId !== undefined) {
      const last = await this.closeSome(tenantId, after);
      if (last === undefined) tenantId = await this.refusals.nextWorkspace(tenantId);
      after = last ?? NIL_UUID;
      if (tenantId !== undefined) yield { tenantId, after };
    }
  }

  /** Answers the last event that it looked at; undefined: there is none behind it. */
  private async closeSome(tenantId: string, after: string): Promise<string | undefined> {
    const refused = await this.refusals.eventsOf(tenantId, after, REFUSALS_PER_STEP);
    const stored = await this.copies.storedAmong(tenantId, refused);
    await this.refusals.supersede(tenantId, [...stored.keys()]);
    return refused.length < REFUSALS_PER_STEP ? undefined : refused.at(-1);
  }
}
