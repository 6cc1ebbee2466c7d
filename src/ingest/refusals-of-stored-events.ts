import { Injectable, type OnModuleInit } from '@nestjs/common';
import { EVERY_TEN_MINUTES, Jobs } from '../platform/jobs/jobs';
import { NIL_UUID } from '../platform/values/uuid';
import { OpenRefusals } from '../review/open-refusals';
import { StoredCopies } from './store/stored-copies';

/** Refusals of one statement: some milliseconds. */
const REFUSALS_PER_STEP = 500;

/**
 * Closes refusals of events that are stored. The transaction that stores an event closes its refusals; a refusal that
 * another process commits at the same moment is seen by neither, and would stay open. Any number of nodes may do it.
 */
@Injectable()
export class RefusalsOfStoredEvents implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly copies: StoredCopies,
    private readonly refusals: OpenRefusals,
  ) {}

  onModuleInit(): void {
    this.jobs.handle('refusals-of-stored-events', () => this.closeAll(), { cron: EVERY_TEN_MINUTES });
  }

  async closeAll(): Promise<void> {
    let tenantId = await this.refusals.nextWorkspace(NIL_UUID);
    while (tenantId !== undefined) {
      await this.closeOf(tenantId);
      tenantId = await this.refusals.nextWorkspace(tenantId);
    }
  }

  private async closeOf(tenantId: string): Promise<void> {
    let last: string | undefined = NIL_UUID;
    while (last !== undefined) {
      const refused = await this.refusals.eventsOf(tenantId, last, REFUSALS_PER_STEP);
      const stored = await this.copies.storedAmong(tenantId, refused);
      await this.refusals.supersede(tenantId, [...stored.keys()]);
      last = refused.length < REFUSALS_PER_STEP ? undefined : refused.at(-1);
    }
  }
}
