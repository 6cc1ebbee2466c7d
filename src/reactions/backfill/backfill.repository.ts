import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, In, LessThan } from 'typeorm';
import { removeOldWork } from '../../platform/jobs/kept-work';
import { UNFINISHED_LIST, UNFINISHED_STATES } from '../../platform/jobs/work-states';
import { Reaction } from '../entities/reaction.entity';
import { ReactionBackfill } from './entities/reaction-backfill.entity';
import { MARKS_REMOVED_MAX } from './backfill-marks';
import type { BackfillKey } from './backfill-progress';

/**
 * Removes some marks ($2) of backfills that are over. Looks for those of each by their key: a running backfill may have
 * millions, which are not read.
 */
export const REMOVE_LATE_MARKS = `
  DELETE FROM reaction_backfill_marks m
  USING (
    SELECT late.backfill_id, late.profile_id FROM reaction_backfills b
    CROSS JOIN LATERAL (
      SELECT backfill_id, profile_id FROM reaction_backfill_marks
      WHERE tenant_id = $1 AND backfill_id = b.id ORDER BY profile_id LIMIT $2
    ) late
    WHERE b.tenant_id = $1 AND b.state NOT IN ${UNFINISHED_LIST} LIMIT $2
  ) late
  WHERE m.tenant_id = $1 AND m.backfill_id = late.backfill_id AND m.profile_id = late.profile_id`;

/** The table of backfills, for requests. */
@Injectable()
export class BackfillRepository {
  constructor(private readonly database: DataSource) {}

  find({ tenantId, campaignId, name, id }: BackfillKey): Promise<ReactionBackfill | null> {
    return this.database.manager.findOneBy(ReactionBackfill, { tenantId, campaignId, name, id });
  }

  /** Those of a reaction, newest first, below an id; one more than `limit` if there is a next page. */
  list(reaction: Omit<BackfillKey, 'id'>, below: string, limit: number): Promise<ReactionBackfill[]> {
    const { tenantId, campaignId, name } = reaction;
    return this.database.manager.find(ReactionBackfill, {
      where: { tenantId, campaignId, name, id: LessThan(below) },
      order: { id: 'DESC' },
      take: limit + 1,
    });
  }

  /** Those of a workspace that are not over. The caller has locked the workspace's reactions. */
  running(manager: EntityManager, tenantId: string): Promise<ReactionBackfill[]> {
    return manager.findBy(ReactionBackfill, { tenantId, state: In(UNFINISHED_STATES) });
  }

  /**
   * Inserts a backfill, and removes the oldest ones that are over. Also removes marks that a worker has committed after
   * the end of an earlier one.
   */
  async create(manager: EntityManager, backfill: ReactionBackfill): Promise<void> {
    await manager.insert(ReactionBackfill, backfill);
    await removeOldWork(manager, ReactionBackfill, backfill.tenantId);
    await manager.query(REMOVE_LATE_MARKS, [backfill.tenantId, MARKS_REMOVED_MAX]);
  }

  /** Has workers report later events to the backfill. The caller has locked the workspace's reactions. */
  async report(manager: EntityManager, { tenantId, campaignId, name }: BackfillKey, backfillId: string): Promise<void> {
    await manager.update(Reaction, { tenantId, campaignId, name }, { backfillId });
  }

  /** The caller has locked the workspace's reactions. */
  async cancel(manager: EntityManager, { tenantId, campaignId, name, id }: BackfillKey): Promise<void> {
    await manager.update(Reaction, { tenantId, campaignId, name, backfillId: id }, { backfillId: null });
    await manager.query(
      `UPDATE reaction_backfills SET state = 'cancelled', finished_at = greatest(statement_timestamp(), started_at)
       WHERE tenant_id = $1 AND campaign_id = $2 AND name = $3 AND id = $4 AND state IN ${UNFINISHED_LIST}`,
      [tenantId, campaignId, name, id],
    );
  }
}
