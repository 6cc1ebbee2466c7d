import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Jobs, type JobPayload } from '../../platform/jobs/jobs';
import { Clock } from '../../platform/values/clock';
import { runPacedSteps } from '../../processing/paced-steps';
import type { WebhookReplayKey } from './webhook-replay-progress';
import { WebhookReplayStep } from './webhook-replay-step';

export const WEBHOOK_REPLAY_JOB = 'webhook-replay';

/** Runs replays in steps (docs/adr/0074). One job of a replay waits at a time; a lost one is run again. */
@Injectable()
export class WebhookReplayJob implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    private readonly steps: WebhookReplayStep,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    const giveUp = (payload: JobPayload): Promise<void> => this.steps.giveUp(keyIn(payload));
    this.jobs.handle(WEBHOOK_REPLAY_JOB, (payload) => this.work(keyIn(payload)), { giveUp });
  }

  /** Adds the job of a replay in the caller's transaction. */
  async add(manager: EntityManager, { tenantId, endpointId, id }: WebhookReplayKey, delayMs = 0): Promise<void> {
    const payload = { tenantId, endpointId, id };
    await this.jobs.add(manager, WEBHOOK_REPLAY_JOB, payload, { key: `${tenantId}/${id}`, delayMs });
  }

  private async work(key: WebhookReplayKey): Promise<void> {
    const delayMs = await runPacedSteps(() => this.steps.run(key), { clock: this.clock, eventsPerSecondMax: null });
    if (delayMs !== undefined) await this.add(this.database.manager, key, delayMs);
  }
}

function keyIn({ tenantId = '', endpointId = '', id = '' }: JobPayload): WebhookReplayKey {
  return { tenantId, endpointId, id };
}
