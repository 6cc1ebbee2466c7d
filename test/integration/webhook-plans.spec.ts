import { randomUUID } from 'node:crypto';
import { END_OLD_CHANGES, EXPIRE, RESUME_QUEUES } from '../../src/webhooks/delivery/delivery-maintenance';
import { freshDatabaseUrl, withClient } from '../support/database';
import { rowsOfPlan } from '../support/plans';

const ROWS = 20_000;
const OLD_ROWS = 10;
const LIMIT = 500;
/** Queues of one step: so few that PostgreSQL finds them again by their key, as it does 500 of a million. */
const STEP = 10;

describe('upkeep of an endpoint with 20,000 deliveries', () => {
  const tenantId = randomUUID();
  const endpointId = randomUUID();
  let url: string;

  beforeAll(async () => {
    url = await freshDatabaseUrl('webhook_plans');
    await withClient(url, async (client) => {
      await client.query(
        `INSERT INTO webhook_deliveries (tenant_id, event_id, endpoint_id, profile_id, seq, state, attempt_count,
           attempts, created_at, done_at, is_change)
         SELECT $1, gen_random_uuid(), $2, gen_random_uuid(), (extract(epoch FROM at) * 1000000)::bigint, state, 1, '[]', at,
           CASE state WHEN 'delivered' THEN at END, true
         FROM (
           SELECT CASE WHEN n <= $4 THEN now() - interval '100 days' ELSE now() - n * interval '1 minute' END AS at
           FROM generate_series(1, $3::int) n
         ) received CROSS JOIN unnest(ARRAY['delivered', 'pending']) AS state`,
        [tenantId, endpointId, ROWS, OLD_ROWS],
      );
      await client.query('ANALYZE webhook_deliveries');
    });
  });

  it('reads those only whose time is over when it removes deliveries', async () => {
    const { taken } = await rowsOfPlan(url, EXPIRE, [tenantId, endpointId, 'delivered', 30, LIMIT]);
    expect(taken).toBeLessThanOrEqual(4 * OLD_ROWS);
  });

  it('reads those only whose time is over when it ends deliveries of changes', async () => {
    const { taken } = await rowsOfPlan(url, END_OLD_CHANGES, [tenantId, endpointId, '0', 90, LIMIT]);
    expect(taken).toBeLessThanOrEqual(4 * OLD_ROWS);
  });
});

describe('resumption of an endpoint with 20,000 queues', () => {
  const tenantId = randomUUID();
  let url: string;

  beforeAll(async () => {
    url = await freshDatabaseUrl('webhook_resumption_plans');
  });

  /** An endpoint with queues, so many of which wait. */
  async function anEndpoint(waiting: number): Promise<string> {
    const endpointId = randomUUID();
    await withClient(url, async (client) => {
      await client.query(
        `INSERT INTO webhook_queues (tenant_id, endpoint_id, profile_id, last_seq, done_seq, failures, due_at)
         SELECT $1, $2, gen_random_uuid(), 2, 1, 3, now() + CASE WHEN n <= $4 THEN 1 ELSE -1 END * interval '1 hour'
         FROM generate_series(1, $3::int) n`,
        [tenantId, endpointId, ROWS, waiting],
      );
      await client.query('ANALYZE webhook_queues');
    });
    return endpointId;
  }

  it.each([ROWS, ROWS / 2, OLD_ROWS])('reads no more than a step resumes when %i of them wait', async (waiting) => {
    const endpointId = await anEndpoint(waiting);
    const { taken } = await rowsOfPlan(url, RESUME_QUEUES, [tenantId, endpointId, STEP]);
    expect(taken).toBeLessThanOrEqual(4 * STEP);
  });
});
