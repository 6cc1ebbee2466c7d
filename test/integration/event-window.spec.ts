import { randomUUID } from 'node:crypto';
import { COUNT_WINDOW } from '../../src/processing/event-window.sql';
import { NIL_UUID } from '../../src/platform/values/uuid';
import { databaseUrl, withClient } from '../support/database';

it('a counted window ends at its last event, also where the clocks of the server were set back within it', async () => {
  const tenantId = randomUUID();
  // 02:50 of summer time, and 02:10 of winter time: twenty minutes later.
  const times = ['2025-10-26T00:50:00Z', '2025-10-26T01:10:00Z'];
  const rows = await withClient(await databaseUrl(), async (client) => {
    await client.query(`SET timezone = 'Europe/Berlin'`);
    await client.query(
      `INSERT INTO events (tenant_id, event_id, family, source, external_event_id, event_type, occurred_at, received_at,
         profile_id, identity, properties, content_hash, batch_id)
       SELECT $1, gen_random_uuid(), 'external', 'shop', at::text, 'purchase', at, at, gen_random_uuid(), '{}', '{}', '\\x00',
         gen_random_uuid()
       FROM unnest($2::timestamptz[]) at`,
      [tenantId, times],
    );
    const first = '2025-10-26T00:00:00Z';
    const values = [tenantId, first, '-infinity', NIL_UUID, '2025-10-27T00:00:00Z', 100, ['purchase'], null, times[1]];
    return (await client.query<{ received_at: string; looked: number; concerned: number }>(COUNT_WINDOW.text, values))
      .rows;
  });
  expect(rows).toEqual([expect.objectContaining({ received_at: '2025-10-26 02:10:00+01', looked: 2, concerned: 1 })]);
});
