import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Principal } from '../platform/auth/principal';
import { Clock } from '../platform/values/clock';
import { DomainError } from '../platform/errors/domain-error';
import { newId } from '../platform/values/ids';
import { isUuid } from '../platform/values/uuid';
import { Jobs } from '../platform/jobs/jobs';
import { UnfinishedLimit } from '../platform/jobs/unfinished-limit';
import type { SingleStatusFilter } from '../review/domain/review-filter';
import { ReviewReader } from '../review/review-reader';
import { ReviewReplay } from './entities/review-replay.entity';
import { REPLAY_JOB, replayJobKey } from './replay-job';
import { ReplayRepository } from './replay.repository';

/** The limit of one bulk replay; a client with more entries starts another one. The query takes one or two seconds. */
const ENTRIES_MAX = 100_000;
/** Entries that a process sends before it checks whether to stop: a fraction of a second. */
const PIECE_ENTRIES = 100;

/** Starts, shows and cancels bulk replays, which run in the background (contract section 7). */
@Injectable()
export class BulkReplayService {
  private readonly limit: UnfinishedLimit<ReviewReplay>;

  constructor(
    database: DataSource,
    private readonly entries: ReviewReader,
    private readonly replays: ReplayRepository,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
  ) {
    this.limit = new UnfinishedLimit(database.manager, ReviewReplay, 'bulk replays of the review area');
  }

  /**
   * Starts a replay of the refusals that match now and that the caller may send, oldest first. Returns its id. Throws
   * `validation_failed` when the workspace runs too many.
   */
  start(caller: Principal, filter: SingleStatusFilter): Promise<string> {
    return this.limit.start(caller.tenantId, () => this.create(caller, filter));
  }

  /** Throws `not_found`. */
  async get(tenantId: string, id: string): Promise<ReviewReplay> {
    const replay = isUuid(id) ? await this.replays.find(tenantId, id) : null;
    if (replay === null) throw new DomainError('not_found', 'There is no replay with this id in this workspace.');
    return replay;
  }

  /** Ends a replay; has no effect on one that has finished. Throws `not_found`. */
  async cancel(tenantId: string, id: string): Promise<ReviewReplay> {
    await this.get(tenantId, id);
    await this.replays.cancel(tenantId, id, this.clock.now());
    return this.get(tenantId, id);
  }

  private async create({ tenantId, credentialId, sources }: Principal, filter: SingleStatusFilter): Promise<string> {
    const ids = await this.entries.refusalsMatching(tenantId, filter, sources, ENTRIES_MAX);
    const now = this.clock.now();
    const isEmpty = ids.length === 0;
    const replay: ReviewReplay = {
      tenantId,
      id: newId(),
      filter,
      sources: sources === null ? null : [...sources],
      state: isEmpty ? 'done' : 'queued',
      total: ids.length,
      accepted: 0,
      duplicate: 0,
      failed: 0,
      createdAt: now,
      createdBy: credentialId,
      finishedAt: isEmpty ? now : null,
    };
    await this.replays.create(replay, pieces(ids), async (manager) => {
      if (!isEmpty)
        await this.jobs.add(manager, REPLAY_JOB, { tenantId, id: replay.id }, { key: replayJobKey(replay) });
    });
    return replay.id;
  }
}

function pieces(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / PIECE_ENTRIES) }, (_, index) =>
    ids.slice(index * PIECE_ENTRIES, (index + 1) * PIECE_ENTRIES),
  );
}
