import { Injectable } from '@nestjs/common';
import { DataSource, In, type EntityManager } from 'typeorm';
import { removeOldWork } from '../platform/jobs/kept-work';
import { UNFINISHED_STATES } from '../platform/jobs/work-states';
import type { ReplayCounts } from './domain/bulk-replay';
import { ReviewReplayPiece } from './entities/review-replay-piece.entity';
import { ReviewReplay } from './entities/review-replay.entity';

/** The tables of bulk replays and of their remaining entries. */
@Injectable()
export class ReplayRepository {
  constructor(private readonly database: DataSource) {}

  find(tenantId: string, id: string): Promise<ReviewReplay | null> {
    return this.database.manager.findOneBy(ReviewReplay, { tenantId, id });
  }

  /** Inserts a replay with its pieces, and removes the oldest ones that are over. `then` runs in the same transaction. */
  async create(
    replay: ReviewReplay,
    pieces: readonly (readonly string[])[],
    then: (manager: EntityManager) => Promise<void>,
  ): Promise<void> {
    await this.database.transaction(async (manager) => {
      await manager.insert(ReviewReplay, replay);
      await manager.query(
        `INSERT INTO review_replay_pieces (tenant_id, replay_id, position, entry_ids)
         SELECT $1, $2, p.position, ARRAY(SELECT json_array_elements_text(p.ids)::uuid)
         FROM json_array_elements($3::json) WITH ORDINALITY AS p (ids, position)`,
        [replay.tenantId, replay.id, JSON.stringify(pieces)],
      );
      await removeOldWork(manager, ReviewReplay, replay.tenantId);
      await then(manager);
    });
  }

  /**
   * Runs `work` with the lock of the replay's row, so that one process works on a replay at a time. PostgreSQL releases
   * the lock of a process that dies. Runs `whenLocked` instead if another process has the lock. Does nothing for a
   * finished replay.
   */
  async runExclusive(
    tenantId: string,
    id: string,
    work: (manager: EntityManager, replay: ReviewReplay) => Promise<void>,
    whenLocked: (manager: EntityManager) => Promise<void>,
  ): Promise<void> {
    await this.database.transaction(async (manager) => {
      const replay = await manager
        .createQueryBuilder(ReviewReplay, 'replay')
        .where({ tenantId, id })
        .setLock('pessimistic_write')
        .setOnLocked('skip_locked')
        .getOne();
      const seen = replay ?? (await manager.findOneBy(ReviewReplay, { tenantId, id }));
      if (seen === null || !UNFINISHED_STATES.includes(seen.state)) return;
      await (replay === null ? whenLocked(manager) : work(manager, replay));
    });
  }

  /** The next piece; null at the end. */
  nextPiece(manager: EntityManager, { tenantId, id }: ReviewReplay): Promise<ReviewReplayPiece | null> {
    return manager.findOne(ReviewReplayPiece, { where: { tenantId, replayId: id }, order: { position: 'ASC' } });
  }

  /** Adds the results of the first `done` entries of a piece to the counts, and removes these entries. */
  async finishEntries(
    manager: EntityManager,
    { tenantId, replayId, position, entryIds }: ReviewReplayPiece,
    done: number,
    counts: ReplayCounts,
  ): Promise<void> {
    const piece = { tenantId, replayId, position };
    const left = entryIds.slice(done);
    if (left.length === 0) await manager.delete(ReviewReplayPiece, piece);
    else await manager.update(ReviewReplayPiece, piece, { entryIds: left });
    await manager.query(
      `UPDATE review_replays SET state = 'running', accepted = accepted + $3, duplicate = duplicate + $4,
         failed = failed + $5
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, replayId, counts.accepted, counts.duplicate, counts.failed],
    );
  }

  /**
   * Ends a replay that has not finished, and forgets the entries that it has not sent. Waits for the piece that is being
   * sent, which counts.
   */
  async cancel(tenantId: string, id: string, finishedAt: Date): Promise<void> {
    await this.database.transaction((manager) => this.end({ tenantId, id }, 'cancelled', finishedAt, manager));
  }

  /** Marks a replay as finished; one that is over stays as it is. */
  async end(
    { tenantId, id }: Pick<ReviewReplay, 'tenantId' | 'id'>,
    state: 'done' | 'failed' | 'cancelled',
    finishedAt: Date,
    manager: EntityManager = this.database.manager,
  ): Promise<void> {
    const unfinished = { tenantId, id, state: In(UNFINISHED_STATES) };
    const { affected } = await manager.update(ReviewReplay, unfinished, { state, finishedAt });
    // One that is done has sent them all.
    if (affected === 1 && state !== 'done') await manager.delete(ReviewReplayPiece, { tenantId, replayId: id });
  }
}
