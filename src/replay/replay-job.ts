import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../platform/values/clock';
import { Jobs, type JobPayload } from '../platform/jobs/jobs';
import { LostJobs } from '../platform/jobs/lost-jobs';
import { RateLimits } from '../platform/rate-limit/rate-limits';
import { ReviewReplay } from './entities/review-replay.entity';
import { ReplayPieces } from './replay-pieces';
import { ReplayRepository } from './replay.repository';

export const REPLAY_JOB = 'review-replay';

/** A cancellation commits within this time. */
const LOCKED_DELAY_MS = 1_000;

type ReplayKey = Pick<ReviewReplay, 'tenantId' | 'id'>;

/** The key of a replay's job: at most one job of a replay is queued. */
export function replayJobKey({ tenantId, id }: ReplayKey): string {
  return `${tenantId}/${id}`;
}

/**
 * Runs bulk replays, one step for each job, so that replays of several workspaces take turns. One process at a time
 * works on a replay. An interrupted step starts again; entries that it sent before are counted and not sent twice.
 * Each entry counts against the rate limit of the credential that started the replay; beyond the limit the job waits.
 */
@Injectable()
export class ReplayJob implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly lostJobs: LostJobs,
    private readonly replays: ReplayRepository,
    private readonly pieces: ReplayPieces,
    private readonly limits: RateLimits,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    const giveUp = (payload: JobPayload): Promise<void> => this.replays.end(keyIn(payload), 'failed', this.clock.now());
    this.jobs.handle(REPLAY_JOB, (payload) => this.work(keyIn(payload)), { giveUp });
    this.lostJobs.watch({
      job: REPLAY_JOB,
      entity: ReviewReplay,
      add: (manager, replay) => this.addJob(manager, replay, 0),
    });
  }

  private async work({ tenantId, id }: ReplayKey): Promise<void> {
    await this.replays.runExclusive(
      tenantId,
      id,
      (manager, replay) => this.runStep(manager, replay),
      // A cancellation has the lock, or a slow process that the job library took for dead.
      (manager) => this.addJob(manager, { tenantId, id }, LOCKED_DELAY_MS),
    );
  }

  private async runStep(manager: EntityManager, replay: ReviewReplay): Promise<void> {
    const { tenantId, createdBy } = replay;
    const piece = await this.replays.nextPiece(manager, replay);
    const step = await this.pieces.firstStep(tenantId, piece?.entryIds ?? []);
    const { taken, retryAfterMs } = this.limits.take('events', createdBy, step.length);
    if (piece !== null && taken > 0) {
      const counts = await this.pieces.replay(replay, step.slice(0, taken));
      await this.replays.finishEntries(manager, piece, taken, counts);
    }
    const isMore = piece !== null && (await this.replays.nextPiece(manager, replay)) !== null;
    if (!isMore) return this.replays.end(replay, 'done', this.clock.now(), manager);
    const delayMs = taken < step.length ? retryAfterMs : 0;
    return this.addJob(manager, replay, delayMs);
  }

  private addJob(manager: EntityManager, { tenantId, id }: ReplayKey, delayMs: number): Promise<void> {
    return this.jobs.add(manager, REPLAY_JOB, { tenantId, id }, { key: replayJobKey({ tenantId, id }), delayMs });
  }
}

function keyIn({ tenantId = '', id = '' }: JobPayload): ReplayKey {
  return { tenantId, id };
}
