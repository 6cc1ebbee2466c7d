import type { INestApplicationContext } from '@nestjs/common';
import { RetentionJob } from '../../src/retention/retention-job';
import { RetentionService } from '../../src/retention/retention.service';
import type { Client } from './client';
import { rowsOf } from './database';
import { until } from './until';

/** Lets so many days pass since events were received: all events of a workspace, or those with these ids. */
export async function letDaysPass(
  url: string,
  tenantId: string,
  days: number,
  eventIds: readonly string[] | null = null,
): Promise<void> {
  await rowsOf(
    url,
    // In UTC, because a cluster takes no expression that depends on the time zone of a session.
    `UPDATE events SET received_at = (received_at AT TIME ZONE 'UTC' - make_interval(days => $2)) AT TIME ZONE 'UTC'
     WHERE tenant_id = $1 AND ($3::uuid[] IS NULL OR event_id = ANY($3))`,
    [tenantId, days, eventIds],
  );
}

const BY = { by: 'test', address: null };

/** Sets the rule of a workspace without its HTTP side, and makes the next step due. */
export async function keepDays(node: INestApplicationContext, tenantId: string, days: number | null): Promise<void> {
  await node.get(RetentionService).change(tenantId, null, BY);
  await node.get(RetentionService).change(tenantId, days, BY);
}

/** Does all steps that are due, of all workspaces; answers how many. */
export async function expireAll(node: INestApplicationContext): Promise<number> {
  let steps = 0;
  while (await node.get(RetentionJob).step()) steps += 1;
  return steps;
}

/** Once what the rule of a workspace no longer keeps is removed, whether by steps of a test or of the service's own job. */
export async function untilExpired(url: string, tenantId: string): Promise<void> {
  const passed = `SELECT 1 FROM event_retention
    WHERE tenant_id = $1 AND expired_before >= changed_at - make_interval(hours => 24 * event_days)`;
  await until(async () => (await rowsOf(url, passed, [tenantId])).length > 0);
}

/** Changes the rule over HTTP, and waits until the background job has removed what it can. */
export async function expireOver(admin: Client, days: number): Promise<void> {
  const put = (eventDays: number | null) =>
    admin.send('/v1/retention', JSON.stringify({ eventDays }), { method: 'PUT' });
  await put(null);
  const { status, body: changed } = await put(days);
  if (status !== 200) throw new Error(`The rule was not changed: ${JSON.stringify(changed)}`);
  // The end of a pass is the time of its beginning less the days; before, it is the time of receipt of an old event.
  const endsAt = new Date(changed.changedAt).getTime() - days * 24 * 60 * 60 * 1_000;
  await until(async () => {
    const { body } = await admin.get('/v1/retention');
    return body.expiredBefore !== null && new Date(body.expiredBefore).getTime() >= endsAt;
  });
}
