import { Injectable } from '@nestjs/common';
import { DataSource, In, LessThan, type EntityManager } from 'typeorm';
import { removeOldWork } from '../../platform/jobs/kept-work';
import { UNFINISHED_LIST, UNFINISHED_STATES } from '../../platform/jobs/work-states';
import { WebhookReplay } from '../entities/webhook-replay.entity';
import type { WebhookReplayKey } from './webhook-replay-progress';

/** The table of replays, for requests. */
@Injectable()
export class WebhookReplayRepository {
  constructor(private readonly database: DataSource) {}

  find({ tenantId, endpointId, id }: WebhookReplayKey): Promise<WebhookReplay | null> {
    return this.database.manager.findOneBy(WebhookReplay, { tenantId, endpointId, id });
  }

  /** Those of an endpoint, newest first, below an id; one more than `limit` if there is a next page. */
  list(tenantId: string, endpointId: string, below: string, limit: number): Promise<WebhookReplay[]> {
    return this.database.manager.find(WebhookReplay, {
      where: { tenantId, endpointId, id: LessThan(below) },
      order: { id: 'DESC' },
      take: limit + 1,
    });
  }

  /** Those of a workspace that are not over. Others start after this transaction. */
  async lockRunning(manager: EntityManager, tenantId: string): Promise<WebhookReplay[]> {
    await manager.query(`SELECT FROM webhook_sets WHERE tenant_id = $1 FOR UPDATE`, [tenantId]);
    return manager.findBy(WebhookReplay, { tenantId, state: In(UNFINISHED_STATES) });
  }

  /** Inserts a replay, and removes the oldest ones that are over. */
  async create(manager: EntityManager, replay: WebhookReplay): Promise<void> {
    await manager.insert(WebhookReplay, replay);
    await removeOldWork(manager, WebhookReplay, replay.tenantId);
  }

  async cancel({ tenantId, endpointId, id }: WebhookReplayKey): Promise<void> {
    await this.database.query(
      `UPDATE webhook_replays SET state = 'cancelled', finished_at = greatest(statement_timestamp(), started_at)
       WHERE tenant_id = $1 AND endpoint_id = $2 AND id = $3 AND state IN ${UNFINISHED_LIST}`,
      [tenantId, endpointId, id],
    );
  }
}
