import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { ReplayCounts, ReplayState } from './domain/replay-progress';
import { ReviewReplayPiece } from './entities/review-replay-piece.entity';
import { ReviewReplay } from './entities/review-replay.entity';

/** Keeps bulk replays and what is left of them to do. */
@Injectable()
export class ReplayRepository {
  constructor(private readonly database: DataSource) {}

  find(tenantId: string, id: string): Promise<ReviewReplay | null> {
    return this.database.manager.findOneBy(ReviewReplay, { tenantId, id });
  }

  /** Writes down a replay with its pieces, and what `then` adds in the same transaction. */
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
      await then(manager);
    });
  }

  /**
   * Runs `work` while nobody else works on this replay: whoever is at it holds the row, and lets go of it with the
   * connection when it dies. `busy` when somebody else is at it; undefined when nothing is left to do.
   */
  async working(
    tenantId: string,
    id: string,
    work: (manager: EntityManager, replay: ReviewReplay) => Promise<void>,
  ): Promise<'busy' | undefined> {
    return this.database.transaction(async (manager) => {
      const replay = await manager
        .createQueryBuilder(ReviewReplay, 'replay')
        .where({ tenantId, id })
        .setLock('pessimistic_write')
        .setOnLocked('skip_locked')
        .getOne();
      if (replay === null) return (await this.find(tenantId, id)) === null ? undefined : 'busy';
      if (!isOver(replay.state)) await work(manager, replay);
      return undefined;
    });
  }

  /** What is to be done next; null at the end. */
  nextPiece(manager: EntityManager, { tenantId, id }: ReviewReplay): Promise<ReviewReplayPiece | null> {
    return manager.findOne(ReviewReplayPiece, { where: { tenantId, replayId: id }, order: { position: 'ASC' } });
  }

  /** Counts what has become of a piece's first entries, and lets these go. */
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

  /** Ends a replay for good. */
  async end(
    { tenantId, id }: Pick<ReviewReplay, 'tenantId' | 'id'>,
    state: 'done' | 'failed',
    finishedAt: Date,
    manager: EntityManager = this.database.manager,
  ): Promise<void> {
    await manager.update(ReviewReplay, { tenantId, id }, { state, finishedAt });
  }
}

function isOver(state: ReplayState): boolean {
  return state === 'done' || state === 'failed';
}
