import type { EntityManager, EntityTarget } from 'typeorm';
import { UNFINISHED_LIST } from './work-states';

/** Of one kind, in one workspace. */
const KEPT_MAX = 1_000;

/**
 * Removes the oldest work of a workspace that is over, behind the newest 1,000. `entity`: its table, whose ids are of
 * `newId`. Called when work is added, in the same transaction. What another transaction is removing is left to it.
 */
export async function removeOldWork(
  manager: EntityManager,
  entity: EntityTarget<{ tenantId: string; id: string; state: string }>,
  tenantId: string,
): Promise<void> {
  const table = manager.getRepository(entity).metadata.tableName;
  await manager.query(
    `DELETE FROM ${table} WHERE tenant_id = $1 AND id IN (
       SELECT id FROM ${table}
       WHERE tenant_id = $1 AND state NOT IN ${UNFINISHED_LIST} AND id < (
         SELECT id FROM ${table} WHERE tenant_id = $1 ORDER BY id DESC OFFSET $2 LIMIT 1
       )
       FOR UPDATE SKIP LOCKED
     )`,
    [tenantId, KEPT_MAX - 1],
  );
}
