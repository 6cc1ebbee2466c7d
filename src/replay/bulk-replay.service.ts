import { Injectable } from '@nestjs/common';
import type { Principal } from '../platform/auth/principal';
import { Clock } from '../platform/values/clock';
import { DomainError } from '../platform/errors/domain-error';
import { newId } from '../platform/values/ids';
import { isUuid } from '../platform/values/uuid';
import { Jobs } from '../platform/jobs/jobs';
import { ReviewReader } from '../review/review-reader';
import type { ReplayFilter } from './domain/replay-progress';
import type { ReviewReplay } from './entities/review-replay.entity';
import { REPLAY_JOB, replayJobKey } from './replay-job';
import { ReplayRepository } from './replay.repository';

/** Of one bulk replay. Whoever has more asks again; the ids of so many are some megabytes, and are found in a second or two. */
const ENTRIES_MAX = 100_000;
/** What a process does at a time, between two looks whether it has to stop: a fraction of a second. */
const PIECE_ENTRIES = 100;

/** Sends many events of the review area again, while nobody waits (contract section 7). */
@Injectable()
export class BulkReplayService {
  constructor(
    private readonly entries: ReviewReader,
    private readonly replays: ReplayRepository,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
  ) {}

  /** Begins to replay the refusals that fit now and that the caller may send now, the oldest first. Answers the replay's id. */
  async start({ tenantId, credentialId, sources }: Principal, filter: ReplayFilter): Promise<string> {
    const ids = await this.entries.refusalsMatching(tenantId, filter, sources, ENTRIES_MAX);
    const now = this.clock.now();
    const isEmpty = ids.length === 0;
    const replay: ReviewReplay = {
      ...{ tenantId, id: newId(), filter, sources: sources === null ? null : [...sources] },
      ...{ state: isEmpty ? 'done' : 'queued', total: ids.length, accepted: 0, duplicate: 0, failed: 0 },
      ...{ createdAt: now, createdBy: credentialId, finishedAt: isEmpty ? now : null },
    };
    await this.replays.create(replay, pieces(ids), async (manager) => {
      if (!isEmpty)
        await this.jobs.add(manager, REPLAY_JOB, { tenantId, id: replay.id }, { key: replayJobKey(replay) });
    });
    return replay.id;
  }

  /** Throws `not_found`. */
  async get(tenantId: string, id: string): Promise<ReviewReplay> {
    const replay = isUuid(id) ? await this.replays.find(tenantId, id) : null;
    if (replay === null) throw new DomainError('not_found', 'There is no replay with this id in this workspace.');
    return replay;
  }
}

function pieces(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / PIECE_ENTRIES) }, (_, index) =>
    ids.slice(index * PIECE_ENTRIES, (index + 1) * PIECE_ENTRIES),
  );
}
