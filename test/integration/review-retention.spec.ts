import { randomUUID } from 'node:crypto';
import { NIL_UUID } from '../../src/platform/values/uuid';
import {
  BYTES_PER_STATEMENT,
  REMOVE_OLD_PAYLOADS,
  ReviewRetention,
  ROWS_PER_STATEMENT,
} from '../../src/review/review-retention';
import { databaseUrl, withClient } from '../support/database';
import { startNode } from '../support/ingest';
import { rowsOfPlan } from '../support/plans';
import { setAhead } from '../support/test-clock';

/** Returns the number of steps. */
async function removeOldPayloads(retention: ReviewRetention): Promise<number> {
  let steps = 0;
  for await (const _position of retention.removeOldPayloads({})) steps += 1;
  return steps;
}

describe('payloads in review', () => {
  it('are let go after REVIEW_PAYLOAD_DAYS since the problem was last seen, and their entries stay', async () => {
    const url = await databaseUrl();
    const tenantId = randomUUID();
    const seen = (days: number, count: number) =>
      withClient(url, (client) =>
        client.query(
          `INSERT INTO review_entries SELECT $1, gen_random_uuid(), 'error', 'validation', 'required', 'm', '[]', 'cdp',
             NULL, NULL, NULL, NULL, '{}', 'json', 1, now() - interval '90 days', now() - $2 * interval '1 day', 'open'
           FROM generate_series(1, $3)`,
          [tenantId, days, count],
        ),
      );
    await seen(8, 1_200);
    await seen(6, 10);
    const node = await startNode(url, { REVIEW_PAYLOAD_DAYS: '7' });
    setAhead(node, 60);
    await removeOldPayloads(node.get(ReviewRetention));
    await node.close();
    const left = await withClient(url, (client) =>
      client.query(
        'SELECT count(*)::int AS entries, count(payload)::int AS payloads FROM review_entries WHERE tenant_id = $1',
        [tenantId],
      ),
    );
    expect(left.rows).toEqual([{ entries: 1_210, payloads: 10 }]);
  });

  it('are let go in steps by what they weigh, however large one of them is', async () => {
    const url = await databaseUrl();
    const tenantId = randomUUID();
    await withClient(url, (client) =>
      client.query(
        `INSERT INTO review_entries SELECT $1, gen_random_uuid(), 'error', 'request', 'malformed_json', 'm', '[]', 'cdp',
           NULL, NULL, NULL, NULL, repeat('x', CASE WHEN n = 1 THEN 20 ELSE 5 END * 1048576), 'text', 1,
           now() - interval '90 days', now() - interval '90 days', 'open'
         FROM generate_series(1, 9) n`,
        [tenantId],
      ),
    );
    const node = await startNode(url, { REVIEW_PAYLOAD_DAYS: '7' });
    const steps = await removeOldPayloads(node.get(ReviewRetention));
    await node.close();
    // The large one takes one step, and the 40 MiB of the others at least three.
    expect(steps).toBeGreaterThanOrEqual(4);
    const left = await withClient(url, (client) =>
      client.query('SELECT count(payload)::int AS payloads FROM review_entries WHERE tenant_id = $1', [tenantId]),
    );
    expect(left.rows).toEqual([{ payloads: 0 }]);
  });

  it('are looked for once among old entries, and never among younger ones', async () => {
    const url = await databaseUrl();
    const tenantId = randomUUID();
    await withClient(url, (client) =>
      client.query(
        `INSERT INTO review_entries SELECT $1, gen_random_uuid(), 'error', 'validation', 'required', 'm', '[]', 'cdp',
           NULL, NULL, NULL, NULL, CASE WHEN days = 8 THEN '{}' END, 'json', 1, now() - days * interval '1 day' + n * interval '1 s',
           now() - days * interval '1 day' + n * interval '1 s', 'open'
         FROM (VALUES (9), (8), (6)) ages (days), generate_series(1, 10000) n`,
        [tenantId],
      ),
    );
    const firstOf = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
    for (const [days, removed] of [
      [9, 0],
      [8, ROWS_PER_STATEMENT],
      [7, 0],
    ] as const) {
      const values = [tenantId, firstOf(days), NIL_UUID, 7, ROWS_PER_STATEMENT, BYTES_PER_STATEMENT];
      const { taken } = await rowsOfPlan(url, REMOVE_OLD_PAYLOADS.text, values);
      // The page, and those of it whose payloads are removed: locked, and changed.
      expect(taken).toBeLessThanOrEqual(ROWS_PER_STATEMENT + 2 * removed);
    }
  });
});
