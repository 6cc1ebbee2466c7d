import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Jobs, type JobPayload } from '../../platform/jobs/jobs';
import { Clock } from '../../platform/values/clock';
import { runPacedSteps } from '../../processing/paced-steps';
import { BackfillStep, EVENTS_MAX } from './backfill-step';
import type { BackfillKey } from './backfill-progress';

export const BACKFILL_JOB = 'reaction-backfill';

/** Runs backfills in steps (docs/adr/0066). One job of a backfill waits at a time; a lost one is run again. */
@Injectable()
export class BackfillJob implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    private readonly steps: BackfillStep,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    const giveUp = (payload: JobPayload): Promise<void> => this.steps.giveUp(keyIn(payload));
    this.jobs.handle(BACKFILL_JOB, (payload) => this.work(payload), { giveUp });
  }

  /** Adds the job of a backfill in the caller's transaction. */
  async add(manager: EntityManager, key: BackfillKey, eventsPerSecondMax: number | null, delayMs = 0): Promise<void> {
    const { tenantId, campaignId, name, id } = key;
    const payload = { tenantId, campaignId, name, id, eventsPerSecondMax: String(eventsPerSecondMax ?? '') };
    await this.jobs.add(manager, BACKFILL_JOB, payload, { key: `${tenantId}/${id}`, delayMs });
  }

  private async work(payload: JobPayload): Promise<void> {
    const key = keyIn(payload);
    const { eventsPerSecondMax = '' } = payload;
    const perSecond = eventsPerSecondMax === '' ? null : Number(eventsPerSecondMax);
    const delayMs = await runPacedSteps(() => this.steps.run(key, perSecond ?? EVENTS_MAX), {
      clock: this.clock,
      eventsPerSecondMax: perSecond,
    });
    if (delayMs !== undefined) await this.add(this.database.manager, key, perSecond, delayMs);
  }
}

function keyIn({ tenantId = '', campaignId = '', name = '', id = '' }: JobPayload): BackfillKey {
  return { tenantId, campaignId, name, id };
}
