import type { INestApplicationContext } from '@nestjs/common';
import { IngestPipeline } from '../../src/ingest/pipeline';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { aCaller, aSubmission, external, startNode } from '../support/ingest';
import { appliedTo, prepareEffects, recordEffects, untilDrained } from '../support/processing';
import { aTenant } from '../support/tenant';
import { aWorkerChild } from '../support/effects-worker-process';

const KILLS = 5;

let url: string;
let node: INestApplicationContext;

beforeAll(async () => {
  url = await freshDatabaseUrl('killed_attempts');
  await prepareEffects(url);
  node = await startNode(url);
  // Never applied here: it makes the node queue every event by itself, for the workers to come.
  recordEffects(node);
});

afterAll(() => node.close());

const named = (id: string, customer: string) => aSubmission({ externalEventId: id, identifiers: [external(customer)] });

const processingOf = async (tenantId: string, id: string) =>
  (
    await rowsOf<{ state: string; attempts: number; last_error: string | null }>(
      url,
      `SELECT p.state, p.attempts, p.last_error FROM event_processing p JOIN events e USING (tenant_id, event_id)
       WHERE tenant_id = $1 AND e.external_event_id = $2`,
      [tenantId, id],
    )
  )[0];

describe('kill -9 of a worker in the middle of an event', () => {
  it(`fails that event for good after ${KILLS} times, and costs no other one anything`, async () => {
    const { tenantId } = await aTenant(url);
    const others = Array.from({ length: 150 }, (_unused, number) => named(`good-${number}`, `customer-${number}`));
    others.splice(60, 0, named('before', 'jane'), named('poison', 'jane'), named('then', 'jane'));
    const results = await node.get(IngestPipeline).ingest(aCaller(tenantId), others, 'live');
    expect(results.every(({ status }) => status === 'accepted')).toBe(true);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const worker = await aWorkerChild(url, { STUCK_ON: 'poison' });
      await worker.stuck;
      await worker.kill();
      // What it waits for between attempts is over.
      await rowsOf(url, 'UPDATE parked_events SET retry_at = now() WHERE retry_at IS NOT NULL AND tenant_id = $1', [
        tenantId,
      ]);
    }
    const last = await aWorkerChild(url, { STUCK_ON: 'poison' });
    await untilDrained(url, tenantId, 60);
    await last.kill();
    expect(await processingOf(tenantId, 'poison')).toEqual({
      state: 'failed',
      attempts: KILLS,
      last_error: expect.stringMatching(/^interrupted: /),
    });
    const reviewed = await rowsOf(
      url,
      `SELECT external_event_id AS id, reason, stage, status FROM review_entries WHERE tenant_id = $1`,
      [tenantId],
    );
    expect(reviewed).toEqual([{ id: 'poison', reason: 'interrupted', stage: 'processing', status: 'open' }]);
    const applied = await appliedTo(url, tenantId);
    expect(new Set(applied).size).toBe(applied.length);
    expect(applied).toHaveLength(152);
    expect(applied.filter((id) => !id.startsWith('good'))).toEqual(['before', 'then']);
  });
});
