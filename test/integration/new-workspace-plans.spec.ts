import { randomUUID } from 'node:crypto';
import { CHANGE_NAMING } from '../../src/ingest/log/events-naming-person';
import { ERASE_EVENTS } from '../../src/ingest/log/events-of-person';
import { readAuditTable } from '../../src/platform/audit/audit-table';
import { SHOWN_UNMASKED } from '../../src/platform/auth/unmask-audit';
import { MAX_UUID, NIL_UUID } from '../../src/platform/values/uuid';
import { DISMISS_PAGE } from '../../src/review/dismissals/review-dismissal.repository';
import { ERASE_ENTRIES } from '../../src/review/review-of-person';
import { NOTE_FAILURES } from '../../src/review/review-resolutions';
import { REMOVE_OLD_PAYLOADS } from '../../src/review/review-retention';
import { REPLACE_PROBLEMS } from '../../src/review/review.sql';
import { READ_CAMPAIGN_STATES } from '../../src/runtime/campaign-states';
import { DELETE_OWN, FORGET_WHO_IN_HISTORY } from '../../src/runtime/history-of-person';
import { READ_ALL_OF_PARTICIPANT } from '../../src/runtime/history-reader';
import { DELETE_OUTCOMES } from '../../src/runtime/state-of-person';
import { END_CHANGES, EXPIRE_CHANGES, REMOVE_OLD } from '../../src/webhooks/delivery/delivery-maintenance.sql';
import { freshDatabaseUrl, rowsOf, withClient } from '../support/database';
import { rowsOfPlan } from '../support/plans';

const ROWS = 10_000;
/** Rows that each statement is to find; the planner assumes that the workspace has one in all. */
const STEP = 10;
/** Each row in the page, as a candidate, as the locked one and as the changed one. */
const TAKEN_MAX = 4 * STEP;

/** Rows $2 of workspace $1. Row n is of person, endpoint or record n % 100, so that a hundred of 10,000 are of each. */
const FILL = [
  `INSERT INTO review_entries (tenant_id, id, severity, stage, reason, message, details, family, source,
     external_event_id, payload, payload_form, occurrences, first_seen_at, last_seen_at, status)
   SELECT $1::uuid, gen_random_uuid(), 'error', 'validate', 'validation_failed', 'Wrong.', '[]', 'external', 'shop', n::text, '{}',
     'json', 1, now() - interval '40 days', now() - interval '40 days', 'open'
   FROM generate_series(1, $2::int) n`,
  `INSERT INTO webhook_changes (tenant_id, id, at, position, queue_id, subject, change)
   SELECT $1::uuid, gen_random_uuid(), now(), 0, gen_random_uuid(), 'person-' || n % 100,
     json_build_object('scope', CASE WHEN n % 200 < 100 THEN 'user' ELSE 'campaign' END)
   FROM generate_series(1, $2::int) n`,
  `INSERT INTO webhook_deliveries (tenant_id, event_id, endpoint_id, profile_id, seq, state, attempt_count, attempts, created_at,
     done_at, is_change)
   SELECT $1::uuid, gen_random_uuid(), md5($1::uuid::text || (n % 2)::text)::uuid, gen_random_uuid(), n,
     CASE WHEN n % 4 < 2 THEN 'delivered' ELSE 'pending' END, 1, '[]', now(), now() - interval '100 days', true
   FROM generate_series(1, $2::int) n`,
  `INSERT INTO events (tenant_id, event_id, family, source, external_event_id, event_type, occurred_at, received_at, profile_id,
     identity, properties, content_hash, batch_id)
   SELECT $1::uuid, gen_random_uuid(), 'external', 'shop', n::text, 'purchase', now(), now(), gen_random_uuid(), '{"a":1}', '{}',
     '\\x00', gen_random_uuid()
   FROM generate_series(1, $2::int) n`,
  `INSERT INTO value_changes (tenant_id, subject, scope, owner_id, name, at, position, stored_at, op, current, cause, changed_by)
   SELECT $1::uuid, CASE WHEN n % 200 < 100 THEN 'person-' || n % 100 ELSE '' END,
     CASE WHEN n % 200 < 100 THEN 'user' ELSE 'campaign' END, 'spring', 'total', now() - n * interval '1 s', 0, now(), 'inc',
     '1', '{"kind":"mutation"}', 'person-' || n % 100
   FROM generate_series(1, $2::int) n`,
  `INSERT INTO mutation_outcomes (tenant_id, subject, campaign_id, mutation_key, created_at, fingerprint, mutations, work_id)
   SELECT $1::uuid, 'person-' || n % 100, 'spring', n::text, now(), '\\x00', '[]', gen_random_uuid() FROM generate_series(1, $2::int) n`,
  `INSERT INTO participant_states (tenant_id, subject, campaign_id, values, system, updated_at)
   SELECT $1::uuid, 'person-' || n % 100, 'campaign-' || n / 100, '{"points":1}', '{}', now() FROM generate_series(1, $2::int) n`,
  `INSERT INTO unmask_audit (tenant_id, id, at, by, what)
   SELECT $1::uuid, md5($1::uuid::text || n::text)::uuid, now() - n * interval '1 s', 'me', 'GET /v1/events' FROM generate_series(1, $2::int) n`,
  `INSERT INTO unmasked_customers (tenant_id, profile_id, at, id)
   SELECT tenant_id, md5(tenant_id || (floor(extract(epoch FROM at))::bigint % 100)::text)::uuid, at, id
   FROM unmask_audit WHERE tenant_id = $1::uuid AND $2::int > 0`,
];

/**
 * Statistics of a table tell the planner that a workspace is in none of its rows, until a tenth of it is new. In a large
 * installation a new workspace may have a million rows until then.
 */
describe('a workspace of 10,000 rows that is new since the last statistics', () => {
  const tenantId = randomUUID();
  let url: string;

  beforeAll(async () => {
    url = await freshDatabaseUrl('new_workspace_plans');
    await withClient(url, async (client) => {
      for (const table of ['value_changes', 'mutation_outcomes']) {
        await client.query(`CREATE TABLE all_${table} PARTITION OF ${table} DEFAULT`);
      }
      const fill = async (workspace: string, rows: number): Promise<void> => {
        for (const text of FILL) await client.query(text, [workspace, rows]);
      };
      for (const other of [randomUUID(), randomUUID()]) await fill(other, 2_000);
      await client.query('ANALYZE');
      await fill(tenantId, ROWS);
    });
  });

  /** Ids of a few rows of a table, and the parameters of a statement about them. */
  async function idsOf(table: string, column: string, where = 'true'): Promise<string[]> {
    const text = `SELECT ${column} AS id FROM ${table} WHERE tenant_id = $1 AND ${where} ORDER BY 1 LIMIT $2`;
    return (await rowsOf<{ id: string }>(url, text, [tenantId, STEP])).map(({ id }) => id);
  }
  const entries = () => idsOf('review_entries', 'id');
  const events = () => idsOf('events', 'event_id');
  const each = (text: string): string[] => Array<string>(STEP).fill(text);
  const endpoint = async () => (await idsOf('webhook_deliveries', 'endpoint_id'))[0] ?? '';

  it.each<[string, { readonly text: string }, () => readonly unknown[] | Promise<readonly unknown[]>]>([
    [
      ...(['a bulk dismissal', DISMISS_PAGE] as const),
      () => [NIL_UUID, STEP, '{}', new Date(), null, null, null, null],
    ],
    [
      ...(['the removal of payloads', REMOVE_OLD_PAYLOADS] as const),
      () => ['-infinity', NIL_UUID, 30, STEP, 1_000_000],
    ],
    [
      ...(['refusals without an erased person', REPLACE_PROBLEMS] as const),
      async () => [await entries(), each('{}'), each(''), each('[]'), each('{}')],
    ],
    ['the erasure of refusals', ERASE_ENTRIES, async () => [await entries(), ['jane'], ['4917612345'], '-', '']],
    [
      ...(['failed replays', NOTE_FAILURES] as const),
      async () => [await entries(), each('{}'), each(new Date().toISOString())],
    ],
    ['the removal of changes', EXPIRE_CHANGES, () => [NIL_UUID, MAX_UUID, STEP]],
    [
      ...(['the removal of deliveries', REMOVE_OLD] as const),
      async () => [await endpoint(), await idsOf('webhook_deliveries', 'event_id', `state = 'delivered'`), 30],
    ],
    [
      ...(['the end of deliveries of changes', END_CHANGES] as const),
      async () => [await endpoint(), await idsOf('webhook_deliveries', 'event_id', `state = 'pending'`), 90],
    ],
    ['the erasure of events', ERASE_EVENTS, async () => [await events()]],
    ['events without an erased person', CHANGE_NAMING, async () => [await events(), each('{}'), each('{}')]],
    ['the erasure of a history', DELETE_OWN, () => ['person-7', STEP]],
    ['the erasure of who changed shared values', FORGET_WHO_IN_HISTORY, () => ['person-7', STEP]],
    ['the erasure of outcomes', DELETE_OUTCOMES, () => ['person-7', STEP]],
    [
      ...(['a page of a person’s campaigns', { text: READ_CAMPAIGN_STATES }] as const),
      () => ['person-7', '', STEP - 1, 1_000_000, 20_000],
    ],
    [
      ...(['the state whose history is read', { text: READ_ALL_OF_PARTICIPANT }] as const),
      () => ['person-7', 'user', 'campaign-3', '9999999999999999', '0', '0', STEP, 1_000_000],
    ],
    [
      ...(['who has seen a customer', { text: readAuditTable(SHOWN_UNMASKED, { ofRecords: true }) }] as const),
      async () => [
        ...['9999-12-31T23:59:59.999Z', MAX_UUID, '-infinity', 'infinity', STEP],
        await idsOf('unmasked_customers', 'profile_id').then((ids) => ids.slice(0, 1)),
      ],
    ],
  ])('costs the rows that it is about: %s', async (_what, { text }, values) => {
    const { taken } = await rowsOfPlan(url, text, [tenantId, ...(await values())]);
    expect(taken).toBeLessThanOrEqual(TAKEN_MAX);
  });
});
