import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isPassing } from '../../platform/group-commit/persist-batch';
import { Jobs, type JobAttempt, type JobPayload } from '../../platform/jobs/jobs';
import { Clock } from '../../platform/values/clock';
import { isDatabaseAway } from '../../processing/effect-errors';
import { BackfillStep, EVENTS_MAX, type StepResult } from './backfill-step';
import type { BackfillKey } from './backfill-progress';

const BACKFILL_JOB = 'reaction-backfill';
/** The service waits for a job when it stops; backfills take turns after so long. */
const WORK_MS_MAX = 1_500;
/** Each step is followed by a pause of this many times its own time, so that ingest keeps nine tenths of its rate. */
const REST_SHARE = 3;
/** Until the queue and open transactions are looked at again. */
const WAIT_MS = 200;
/** So many lost races and deadlocks in a row; then the job fails and is tried again later. */
const REPEATS_MAX = 10;

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
    this.jobs.handle(BACKFILL_JOB, (payload, attempt) => this.work(payload, attempt));
  }

  /** Adds the job of a backfill in the caller's transaction. */
  async add(manager: EntityManager, key: BackfillKey, eventsPerSecondMax: number | null, delayMs = 0): Promise<void> {
    const { tenantId, campaignId, name, id } = key;
    const payload = { tenantId, campaignId, name, id, eventsPerSecondMax: String(eventsPerSecondMax ?? '') };
    await this.jobs.add(manager, BACKFILL_JOB, payload, { key: `${tenantId}/${id}`, delayMs });
  }

  private async work(payload: JobPayload, { isLast }: JobAttempt): Promise<void> {
    const { tenantId = '', campaignId = '', name = '', id = '', eventsPerSecondMax = '' } = payload;
    const key = { tenantId, campaignId, name, id };
    const perSecond = eventsPerSecondMax === '' ? null : Number(eventsPerSecondMax);
    try {
      const delayMs = await this.runSteps(key, perSecond);
      if (delayMs !== undefined) await this.add(this.database.manager, key, perSecond, delayMs);
    } catch (error) {
      if (isLast) await this.steps.giveUp(key);
      throw error;
    }
  }

  /** For about a second. Returns when the next job should run; undefined: the backfill is over. */
  private async runSteps(key: BackfillKey, perSecond: number | null): Promise<number | undefined> {
    const beganMs = this.clock.monotonicMs();
    for (;;) {
      const startedMs = this.clock.monotonicMs();
      const step = await this.step(key, perSecond);
      if (step.next === 'over') return undefined;
      const restMs = restOf(step, this.clock.monotonicMs() - startedMs, perSecond);
      if (this.clock.monotonicMs() + restMs - beganMs > WORK_MS_MAX) return restMs;
      await pause(restMs);
    }
  }

  private async step(key: BackfillKey, perSecond: number | null): Promise<StepResult> {
    for (let repeats = 0; ; repeats += 1) {
      try {
        return await this.steps.run(key, perSecond ?? EVENTS_MAX);
      } catch (error) {
        if (!isPassing(error) || isDatabaseAway(error) || repeats === REPEATS_MAX) throw error;
        await pause(Math.random() * WAIT_MS);
      }
    }
  }
}

/** Milliseconds until the next step. */
function restOf({ next, events }: StepResult, tookMs: number, perSecond: number | null): number {
  const paceMs = perSecond === null ? 0 : (events * 1_000) / perSecond - tookMs;
  return Math.max(tookMs * REST_SHARE, paceMs, next === 'wait' ? WAIT_MS : 0);
}
