import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../platform/values/clock';
import { Jobs, type JobAttempt, type JobPayload } from '../platform/jobs/jobs';
import { RateLimits } from '../platform/rate-limit/rate-limits';
import type { ReviewReplay } from './entities/review-replay.entity';
import { ReplayPieces } from './replay-pieces';
import { ReplayRepository } from './replay.repository';

export const REPLAY_JOB = 'review-replay';

/** Of one replay there is one job that waits at most. */
export function replayJobKey({ tenantId, id }: Pick<ReviewReplay, 'tenantId' | 'id'>): string {
  return `${tenantId}/${id}`;
}

/**
 * Carries bulk replays on, a piece at a time: one process at a time works on a replay, and replays of several workspaces take
 * turns. A piece that was interrupted is begun again; what it had sent by then is counted, not sent twice. Each entry is an event
 * against the limit of whoever asked for the replay: where that is used up, the rest comes when it allows.
 */
@Injectable()
export class ReplayJob implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly replays: ReplayRepository,
    private readonly pieces: ReplayPieces,
    private readonly limits: RateLimits,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.jobs.handle(REPLAY_JOB, (payload, attempt) => this.work(payload, attempt));
  }

  private async work({ tenantId = '', id = '' }: JobPayload, { isLast }: JobAttempt): Promise<void> {
    try {
      const busy = await this.replays.working(tenantId, id, (manager, replay) => this.carryOn(manager, replay));
      // By a process that was taken for dead. Should it be so soon, this attempt's successor goes on.
      if (busy !== undefined) throw new Error('Another process is at this replay');
    } catch (error) {
      if (isLast) await this.replays.end({ tenantId, id }, 'failed', this.clock.now());
      throw error;
    }
  }

  private async carryOn(manager: EntityManager, replay: ReviewReplay): Promise<void> {
    const { tenantId, id, createdBy } = replay;
    const piece = await this.replays.nextPiece(manager, replay);
    const wanted = piece?.entryIds.length ?? 0;
    const { taken, retryAfterMs } = this.limits.take('events', createdBy, wanted);
    if (piece !== null && taken > 0) {
      const counts = await this.pieces.replay(replay, piece.entryIds.slice(0, taken));
      await this.replays.finishEntries(manager, piece, taken, counts);
    }
    const isMore = piece !== null && (await this.replays.nextPiece(manager, replay)) !== null;
    if (!isMore) return this.replays.end(replay, 'done', this.clock.now(), manager);
    const delayMs = taken < wanted ? retryAfterMs : 0;
    return this.jobs.add(manager, REPLAY_JOB, { tenantId, id }, { key: replayJobKey(replay), delayMs });
  }
}
