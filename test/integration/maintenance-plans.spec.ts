import { randomUUID } from 'node:crypto';
import { LOCK_EXPIRED_WAITING } from '../../src/processing/waiting-events.sql';
import { REMOVE_LATE_MARKS } from '../../src/reactions/backfill/backfill.repository';
import { NIL_UUID } from '../../src/platform/values/uuid';
import {
  END_CHANGES,
  FIND_OLD,
  PULL_BACK_QUEUES,
  REMOVE_OLD,
  RESUME_QUEUES,
} from '../../src/webhooks/delivery/delivery-maintenance.sql';
import { freshDatabaseUrl, rowsOf, withClient } from '../support/database';
import { rowsOfPlan } from '../support/plans';

const ROWS = 20_000;
const OLD_ROWS = 10;
const LIMIT = 500;
/** Rows of one step: so few that PostgreSQL finds them again by their key, as it does 500 of a million. */
const STEP = 10;

describe('maintenance of an endpoint with 20,000 deliveries', () => {
  const tenantId = randomUUID();
  const [endpointId, lateId] = [randomUUID(), randomUUID()];
  const position = ['0', NIL_UUID];
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
      await client.query(
        `INSERT INTO webhook_deliveries (tenant_id, event_id, endpoint_id, profile_id, seq, state, attempt_count,
           attempts, created_at, done_at, is_change)
         SELECT $1, gen_random_uuid(), $2, gen_random_uuid(), n, 'delivered', 1, '[]', now() - interval '100 days', now(), false
         FROM generate_series(1, $3::int) n`,
        [tenantId, lateId, ROWS],
      );
      await client.query('ANALYZE webhook_deliveries');
    });
  });

  it.each([
    ['delivered', 30],
    ['pending', 90],
  ])('reads those only that are old when it looks for %s ones', async (state, days) => {
    const { shown, taken } = await rowsOfPlan(url, FIND_OLD, [tenantId, endpointId, state, ...position, days, LIMIT]);
    expect([shown, taken]).toEqual([OLD_ROWS, OLD_ROWS]);
  });

  it.each([
    ['removes', REMOVE_OLD.text],
    ['ends', END_CHANGES.text],
  ])('reads no others of the endpoint than those that it looks at when it %s old ones', async (_what, text) => {
    const ids = `SELECT event_id FROM webhook_deliveries WHERE tenant_id = $1 AND endpoint_id = $2 ORDER BY seq LIMIT $3`;
    const found = await rowsOf<{ event_id: string }>(url, ids, [tenantId, endpointId, STEP]);
    const { taken } = await rowsOfPlan(url, text, [tenantId, endpointId, found.map(({ event_id }) => event_id), 30]);
    expect(taken).toBe(STEP);
  });

  it('looks at a page in each step when all were delivered lately, after a long outage', async () => {
    const { shown, taken } = await rowsOfPlan(url, FIND_OLD, [tenantId, lateId, 'delivered', ...position, 30, STEP]);
    expect([shown, taken]).toEqual([STEP, STEP + 1]);
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

  it('reads those only that wait in the future when it looks for queues that wait too long', async () => {
    const endpointId = await anEndpoint(OLD_ROWS);
    const { taken } = await rowsOfPlan(url, PULL_BACK_QUEUES, [tenantId, endpointId, LIMIT]);
    expect(taken).toBeLessThanOrEqual(4 * OLD_ROWS);
  });
});

it('the retention of 20,000 waiting events reads those only whose time is over', async () => {
  const url = await freshDatabaseUrl('waiting_events_plans');
  const tenantId = randomUUID();
  await withClient(url, async (client) => {
    await client.query(
      `INSERT INTO waiting_events (tenant_id, profile_id, queued_at, position, event_id, queued_for)
       SELECT $1, gen_random_uuid(), now() - CASE WHEN n <= $3 THEN 40 ELSE 1 END * interval '1 day', 0,
         gen_random_uuid(), gen_random_uuid()
       FROM generate_series(1, $2::int) n`,
      [tenantId, ROWS, OLD_ROWS],
    );
    await client.query('ANALYZE waiting_events');
  });
  const read = await rowsOfPlan(url, LOCK_EXPIRED_WAITING.text, [tenantId, 30, LIMIT]);
  expect(read).toMatchObject({ shown: OLD_ROWS });
  expect(read.taken).toBeLessThanOrEqual(OLD_ROWS);
});

it('a new backfill removes marks that others have left, and does not read those of one that runs', async () => {
  const url = await freshDatabaseUrl('backfill_marks_plans');
  const [tenantId, running, over] = [randomUUID(), randomUUID(), randomUUID()];
  await withClient(url, async (client) => {
    await client.query(
      `INSERT INTO reaction_backfills
       SELECT $1, 'spring', 'points', id, gen_random_uuid(), now(), 'purchase', NULL, true, now(), now(), false, NULL, state,
         NULL, 'events', 0, 0, 0, 0, 0, 0, 0, 0, '[]', now(), now(), gen_random_uuid(), now(), 'me', NULL, NULL
       FROM (
         VALUES ($2::uuid, 'running'), ($3, 'cancelled')
         UNION ALL
         SELECT gen_random_uuid(), 'done' FROM generate_series(1, 900)
       ) backfills (id, state)`,
      [tenantId, running, over],
    );
    await client.query(
      `INSERT INTO reaction_backfill_marks
       SELECT $1, CASE WHEN n <= $5 THEN $3::uuid ELSE $2 END, gen_random_uuid(), now(), now(), gen_random_uuid()
       FROM generate_series(1, $4::int) n`,
      [tenantId, running, over, ROWS, OLD_ROWS],
    );
    await client.query('ANALYZE reaction_backfills, reaction_backfill_marks');
  });
  const { taken } = await rowsOfPlan(url, REMOVE_LATE_MARKS, [tenantId, STEP]);
  // The backfills that are over, and the marks twice: to find them, and to remove them.
  expect(taken).toBeLessThanOrEqual(902 + 2 * OLD_ROWS);
  const left = await withClient(url, (client) =>
    client.query('SELECT backfill_id, count(*)::int AS marks FROM reaction_backfill_marks GROUP BY 1'),
  );
  expect(left.rows).toEqual([{ backfill_id: running, marks: ROWS - OLD_ROWS }]);
});
