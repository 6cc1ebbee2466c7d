import type { INestApplicationContext } from '@nestjs/common';
import { IngestPipeline } from '../../../src/ingest/pipeline';
import { freshDatabaseUrl, rowsOf } from '../../support/database';
import { aCaller, aSubmission, external, startNode } from '../../support/ingest';
import { appliedTo, prepareEffects, recordEffects, untilDrained } from '../../support/processing';
import { aTenant } from '../../support/tenant';
import { until } from '../../support/until';
import { aWorkerChild } from '../../support/effects-worker-process';

const KILLS = 6;
const CUSTOMERS = 50;
const ROUNDS = 160;
const DRAINED_SECONDS = 180;
const LIMIT_MS = 400_000;

let url: string;
let node: INestApplicationContext;

beforeAll(async () => {
  url = await freshDatabaseUrl('processing_kills');
  await prepareEffects(url);
  node = await startNode(url);
  // Never applied here: it makes the node queue every event by itself, for the workers to come.
  recordEffects(node);
});

afterAll(() => node.close());

describe('kill -9', () => {
  it(
    `of workers, ${KILLS} times while they drain the queue, leaves every effect once and customers in their order`,
    async () => {
      const { tenantId } = await aTenant(url);
      for (let round = 0; round < ROUNDS; round += 20) {
        const events = Array.from({ length: 20 }, (_unused, step) =>
          Array.from({ length: CUSTOMERS }, (_unusedToo, customer) =>
            aSubmission({
              externalEventId: `${customer}/${round + step}`,
              identifiers: [external(`customer-${customer}`)],
            }),
          ),
        ).flat();
        const results = await node.get(IngestPipeline).ingest(aCaller(tenantId), events, 'live');
        expect(results.every(({ status }) => status === 'accepted')).toBe(true);
      }
      const applied = async (): Promise<number> =>
        (await rowsOf<{ n: number }>(url, 'SELECT count(*)::int AS n FROM test_effects'))[0]!.n;
      let interrupted = 0;
      for (let round = 0; round < KILLS; round += 1) {
        const before = await applied();
        const workers = await Promise.all([aWorkerChild(url), aWorkerChild(url)]);
        await until(async () => (await applied()) > before || before === CUSTOMERS * ROUNDS);
        await Promise.all(workers.map((worker) => worker.kill()));
        if ((await applied()) < CUSTOMERS * ROUNDS) interrupted += 1;
      }
      const last = await aWorkerChild(url);
      try {
        // Each entry of a turn that was cut off gets a turn of its own (docs/adr/0034), of which each takes 60 ms here.
        await untilDrained(url, tenantId, DRAINED_SECONDS);
      } finally {
        await last.kill();
      }
      expect(interrupted).toBeGreaterThan(2);
      const order = new Map<string, number[]>();
      for (const id of await appliedTo(url, tenantId)) {
        const [customer = '', round] = id.split('/');
        order.set(customer, [...(order.get(customer) ?? []), Number(round)]);
      }
      const everyRound = Array.from({ length: ROUNDS }, (_unused, round) => round);
      expect([...order.values()]).toEqual(Array.from({ length: CUSTOMERS }, () => everyRound));
      const [written] = await rowsOf(
        url,
        `SELECT count(*)::int AS events, count(*) FILTER (WHERE state = 'processed' AND attempts <= 5)::int AS processed
       FROM event_processing`,
      );
      expect(written).toEqual({ events: CUSTOMERS * ROUNDS, processed: CUSTOMERS * ROUNDS });
    },
    LIMIT_MS,
  );
});
