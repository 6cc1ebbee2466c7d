import { randomUUID } from 'node:crypto';
import { ReviewRetention } from '../../src/review/review-retention';
import { databaseUrl, withClient } from '../support/database';
import { startNode } from '../support/ingest';
import { setAhead } from '../support/test-clock';

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
    await node.get(ReviewRetention).removeOldPayloads();
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
    const removed = await node.get(ReviewRetention).removeOldPayloads();
    await node.close();
    expect(removed).toBe(9);
    const left = await withClient(url, (client) =>
      client.query('SELECT count(payload)::int AS payloads FROM review_entries WHERE tenant_id = $1', [tenantId]),
    );
    expect(left.rows).toEqual([{ payloads: 0 }]);
  });
});
