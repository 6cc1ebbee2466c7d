import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { OpenRefusals } from '../../src/review/open-refusals';
import { freshDatabaseUrl, rowsOf, waitingForLocks, withClient } from '../support/database';
import { startNode } from '../support/ingest';
import { aTenant } from '../support/tenant';
import { until } from '../support/until';

/*
 * An entry about a refused event that was stored all the same becomes the one about its failed processing, which has the same
 * reason, while another process is about to close it.
 */

let url: string;
let node: INestApplicationContext;

beforeAll(async () => {
  url = await freshDatabaseUrl('failures_superseded');
  node = await startNode(url);
});
afterAll(() => node.close());

it('stays open as a failure of processing', async () => {
  const { tenantId } = await aTenant(url);
  const [id, eventId] = [randomUUID(), randomUUID()];
  await rowsOf(
    url,
    `INSERT INTO review_entries (tenant_id, id, severity, stage, reason, message, details, family, source,
       external_event_id, event_id, payload, payload_form, occurrences, first_seen_at, last_seen_at, status)
     VALUES ($1, $2, 'error', 'validation', 'type', 'm', '[]', 'cdp', 'shop', 'order-1', $3, '{}', 'json', 1, now(), now(), 'open')`,
    [tenantId, id, eventId],
  );
  await withClient(url, async (worker) => {
    await worker.query('BEGIN');
    // As WRITE_ENTRIES does it for an event that has failed.
    await worker.query(
      `UPDATE review_entries SET stage = 'processing', payload = NULL, occurrences = 2 WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id],
    );
    const closing = node.get(OpenRefusals).supersede(tenantId, [eventId]);
    await until(async () => (await waitingForLocks(url)) === 1);
    await worker.query('COMMIT');
    await closing;
  });
  const entry = 'SELECT status, stage FROM review_entries WHERE tenant_id = $1 AND id = $2';
  expect(await rowsOf(url, entry, [tenantId, id])).toEqual([{ status: 'open', stage: 'processing' }]);
});
