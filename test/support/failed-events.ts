import type { INestApplicationContext } from '@nestjs/common';
import { ParkedRetry } from '../../src/processing/parked-retry';
import { rowsOf } from './database';

interface Processing {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly last_error: string | null;
}

/** What is written down of a workspace's events, by external id. */
export const processingRecordsOf = (url: string, tenantId: string): Promise<Processing[]> =>
  rowsOf(
    url,
    `SELECT e.external_event_id AS id, p.state, p.attempts, p.last_error FROM event_processing p
     JOIN events e USING (tenant_id, event_id) WHERE tenant_id = $1 ORDER BY e.external_event_id`,
    [tenantId],
  );

/** The external ids of what is parked, in its order. */
export const parkedIdsOf = async (url: string, tenantId: string): Promise<string[]> =>
  (
    await rowsOf<{ id: string }>(
      url,
      `SELECT e.external_event_id AS id FROM parked_events p JOIN events e USING (tenant_id, event_id)
       WHERE tenant_id = $1 ORDER BY queued_at, position`,
      [tenantId],
    )
  ).map(({ id }) => id);

export const reviewRecordsOf = (url: string, tenantId: string) =>
  rowsOf<Record<string, unknown>>(
    url,
    `SELECT severity, stage, reason, message, source, external_event_id AS id, event_type, status, payload,
       event_id IS NOT NULL AS about FROM review_entries WHERE tenant_id = $1 ORDER BY external_event_id`,
    [tenantId],
  );

/** Lets the time pass that failed events of a workspace wait for; answers how long that would have been. */
export async function letParkedTimePass(node: INestApplicationContext, url: string, tenantId: string): Promise<number> {
  const waits = await rowsOf<{ shard: number; ms: number }>(
    url,
    `WITH before AS (SELECT event_id, retry_at FROM parked_events WHERE tenant_id = $1 AND retry_at IS NOT NULL)
     UPDATE parked_events p SET retry_at = now() FROM before b
     WHERE p.tenant_id = $1 AND p.event_id = b.event_id
     RETURNING p.shard, extract(epoch FROM b.retry_at - now())::float8 * 1000 AS ms`,
    [tenantId],
  );
  for (const shard of new Set(waits.map((wait) => wait.shard))) await node.get(ParkedRetry).retry({ tenantId, shard });
  return Math.max(0, ...waits.map(({ ms }) => ms));
}
