import { setTimeout as wait } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { MergeRepository } from '../../src/identity/merge.repository';
import { MergesService } from '../../src/identity/merges.service';
import type { Identifier } from '../../src/identity/domain/identifier';
import { shardOf } from '../../src/ingest/queue/queue-partition';
import { EventWorker } from '../../src/processing/event-worker';
import { freshDatabaseUrl, rowsOf, withClient } from '../support/database';
import { device, email, external, sendTo, startNode } from '../support/ingest';
import { appliedTo, prepareEffects, recordEffects, untilDrained, workOff } from '../support/processing';
import { aTenant } from '../support/tenant';

/*
 * An undo whose COMMIT takes longer than a second: its process or the disk stands still between its last statement and the
 * commit. Events that come in meanwhile are queued for the customer of before (docs/adr/0046).
 */

/** Longer than clocks differ. */
const COMMIT_MS = 1_500;
/** Many times what a worker takes for a turn. */
const TURNS_MS = 1_500;

let url: string;
let nodes: INestApplicationContext[];
let tenantId: string;

beforeAll(async () => {
  url = await freshDatabaseUrl('undo_slow_commit');
  await prepareEffects(url);
});
beforeEach(async () => {
  nodes = await Promise.all([1, 2].map(() => startNode(url)));
  for (const node of nodes) recordEffects(node);
  ({ tenantId } = await aTenant(url));
});
afterEach(async () => {
  await Promise.all(nodes.map((node) => node.close()));
});

const send = (externalEventId: string, ...identifiers: Identifier[]) =>
  sendTo(nodes[0]!, tenantId, [{ externalEventId, identifiers }]);

async function profileOf({ value }: Identifier): Promise<string> {
  const owner = 'SELECT profile_id FROM profile_identifiers WHERE tenant_id = $1 AND value = $2';
  return (await rowsOf<{ profile_id: string }>(url, owner, [tenantId, value]))[0]!.profile_id;
}

it('keeps the order of an event that comes in between the last statement of an undo and its commit', async () => {
  const [ann, tool] = [external('ann'), device('d')];
  await send('ann', ann, tool);
  const shard = shardOf(await profileOf(ann));
  // In another partition than ann.
  let mail = email('m0@x.de');
  for (let n = 0; ; n += 1) {
    mail = email(`m${n}@x.de`);
    await send(`mail ${n}`, mail);
    if (shardOf(await profileOf(mail)) !== shard) break;
  }
  await send('merge', ann, mail);
  await workOff(nodes[1]!, url, tenantId);

  const [merge] = await rowsOf<{ id: string }>(url, 'SELECT id FROM profile_merges WHERE tenant_id = $1', [tenantId]);
  const merges = nodes[1]!.get(MergeRepository);
  const markUndone = merges.markUndone.bind(merges);
  jest.spyOn(merges, 'markUndone').mockImplementationOnce(async (...asked) => {
    await markUndone(...asked);
    await wait(COMMIT_MS);
    await send('as ann', mail);
  });
  await nodes[1]!.get(MergesService).undo(tenantId, merge!.id);
  await send('apart', mail);
  await withClient(url, async (busy) => {
    // Another worker is busy with ann's partition.
    await busy.query('BEGIN');
    await busy.query('SELECT 1 FROM queue_leases WHERE tenant_id = $1 AND shard = $2 FOR UPDATE', [tenantId, shard]);
    nodes[0]!.get(EventWorker).start();
    await wait(TURNS_MS);
    await busy.query('COMMIT');
  });
  await untilDrained(url, tenantId);
  await nodes[0]!.get(EventWorker).stop();
  const applied = await appliedTo(url, tenantId);
  expect(applied.filter((id) => id === 'as ann' || id === 'apart')).toEqual(['as ann', 'apart']);
});
