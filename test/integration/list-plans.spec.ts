import { randomUUID } from 'node:crypto';
import { READ_CUSTOMERS } from '../../src/identity/customer.sql';
import { timelineRange, type TimelineOrder } from '../../src/ingest/log/timeline-range';
import { READ_RECEIVED_EVENTS, READ_SMALL_RECEIVED, receivedValues } from '../../src/ingest/log/event-page.sql';
import { MAX_UUID } from '../../src/platform/values/uuid';
import { PAGE_BYTES_MAX } from '../../src/platform/pagination/page-bytes';
import type { TimeKey } from '../../src/platform/pagination/time-key';
import { auditNotes, readAuditTable } from '../../src/platform/audit/audit-table';
import { SHOWN_UNMASKED } from '../../src/platform/auth/unmask-audit';
import { READ_CAMPAIGN_STATES } from '../../src/runtime/campaign-states';
import { READ_ALL_OF_PARTICIPANT, READ_ONE } from '../../src/runtime/history-reader';
import { READ_PARTICIPANTS } from '../../src/runtime/participant-reader';
import { readStatisticsBy } from '../../src/statistics/read-statistics.sql';
import { READ_CAMPAIGNS } from '../../src/variables/campaign-reader';
import { freshDatabaseUrl, withClient } from '../support/database';
import { rowsOfPlan } from '../support/plans';

const ROWS = 100_000;
const LIMIT = 50;
/** The form of the ids of a hundred records. */
const RECORD = '00000000-0000-4000-8000-0000000000%s';
/** Rows of an index beyond those that are shown: the next one, and those that a sort by the id looks ahead for. */
const ROWS_AHEAD = 40;

describe('a page of a list of 100,000 rows', () => {
  const tenantId = randomUUID();
  let url: string;

  beforeAll(async () => {
    url = await freshDatabaseUrl('list_plans');
    await withClient(url, async (client) => {
      await client.query(
        `INSERT INTO events (tenant_id, event_id, family, source, external_event_id, event_type, occurred_at, received_at,
           profile_id, identity, properties, content_hash, batch_id)
         SELECT $1, gen_random_uuid(), 'external', 'shop', n::text, 'purchase', now(),
           '2026-01-01T00:00:00Z'::timestamptz + n * interval '100 ms', gen_random_uuid(), '{}', '{}', '\\x00', gen_random_uuid()
         FROM generate_series(1, $2::int) n`,
        [tenantId, ROWS],
      );
      await client.query(
        `INSERT INTO profiles (tenant_id, profile_id, root_id, external_id, email_count, phone_count, device_count, version, created_at)
         SELECT $1, id, id, id::text, 0, 0, 0, 1, now() FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, $2::int)) each_id`,
        [tenantId, ROWS],
      );
      await client.query(
        `INSERT INTO participant_states (tenant_id, subject, campaign_id, values, system, updated_at)
         SELECT $1, n::text, CASE WHEN n % 500 = 0 THEN 'rare' WHEN n % 10 = 1 THEN 'empty' ELSE 'campaign-' || n % 10 END,
           CASE WHEN n % 10 = 1 THEN '{}'::jsonb ELSE '{"points":1}' END, '{}', now()
         FROM generate_series(1, $2::int) n`,
        [tenantId, ROWS],
      );
      await client.query(
        `INSERT INTO participant_states (tenant_id, subject, campaign_id, values, system, updated_at)
         SELECT $1, 'everywhere', 'in-' || lpad(n::text, 6, '0'), '{"points":1}', '{}', now() FROM generate_series(1, 2000) n`,
        [tenantId],
      );
      await client.query(
        `INSERT INTO campaigns (tenant_id, campaign_id, created_at)
         SELECT $1, 'c-' || n, '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 s' FROM generate_series(1, $2::int) n`,
        [tenantId, ROWS],
      );
      await client.query(
        `INSERT INTO variables (tenant_id, campaign_id, scope, name, type, created_at, updated_at)
         SELECT $1, 'c-' || n, 'user', 'points', 'number', now(), now() FROM generate_series(1, $2::int) n`,
        [tenantId, ROWS],
      );
      await client.query(
        `INSERT INTO unmask_audit (tenant_id, id, at, by, what)
         SELECT $1, gen_random_uuid(), '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 s', 'me', 'GET /v1/events'
         FROM generate_series(1, $2::int) n`,
        [tenantId, ROWS],
      );
      await client.query(
        `INSERT INTO audit_log (tenant_id, kind, at, id, action, record_id, name, by)
         SELECT $1, CASE WHEN n % 2 = 0 THEN 'jwt_issuer' ELSE 'service_credential' END,
           '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 s', gen_random_uuid(), 'created', format($3, lpad((n % 100)::text, 2, '0')), 'x', 'me'
         FROM generate_series(1, $2::int) n`,
        [tenantId, ROWS, RECORD],
      );
      await client.query(
        `INSERT INTO unmasked_customers (tenant_id, profile_id, at, id)
         SELECT tenant_id, format($2, lpad((extract(epoch FROM at)::bigint % 100)::text, 2, '0'))::uuid, at, id FROM unmask_audit WHERE tenant_id = $1`,
        [tenantId, RECORD],
      );
      await client.query(
        `INSERT INTO ingest_statistics (tenant_id, step, at, family, source, event_type, accepted, late, clock_skewed, duplicate, refused)
         SELECT $1, step, '2026-01-01T00:00:00Z'::timestamptz + n / 10 * length, 'external', 'shop', 'type-' || n % 10, 1, 0, 0, 0, 0
         FROM (VALUES ('minute', interval '1 minute'), ('hour', interval '1 hour')) steps (step, length), generate_series(1, $2::int / 2) n`,
        [tenantId, ROWS],
      );
      await client.query('CREATE TABLE all_changes PARTITION OF value_changes DEFAULT');
      await client.query(
        `INSERT INTO value_changes (tenant_id, subject, scope, owner_id, name, at, position, stored_at, op, current, cause, changed_by)
         SELECT $1, '', 'campaign', 'spring', 'total', '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 s', 0, now(), 'inc', '1',
           '{"kind":"mutation"}', ''
         FROM generate_series(1, $2::int) n`,
        [tenantId, ROWS],
      );
      await client.query('ANALYZE events, profiles, participant_states, campaigns, variables, unmask_audit, audit_log');
      await client.query('ANALYZE unmasked_customers, ingest_statistics, value_changes');
    });
  });

  const rowsRead = (text: string, values: readonly unknown[]) => rowsOfPlan(url, text, values);

  const eventsOf = (
    order: TimelineOrder,
    [from, to]: readonly (string | undefined)[],
    filtered: boolean,
    after?: TimeKey,
  ) => {
    const range = {
      from: from === undefined ? undefined : Date.parse(from),
      to: to === undefined ? undefined : Date.parse(to),
    };
    const bounds = { lookedAtMax: filtered ? 20_000 : LIMIT + 1, answeredMax: LIMIT + 2 };
    const filter = filtered ? { source: 'shop' } : {};
    return receivedValues(tenantId, timelineRange({ order, ...range, after }), filter, bounds);
  };

  describe.each(['asc', 'desc'] as const)('of events by receipt (%s)', (order) => {
    it.each([
      ['the first', undefined, undefined, LIMIT + 1],
      ['a minute in the middle', '2026-01-01T01:00:00Z', '2026-01-01T01:01:00Z', LIMIT + 1],
      ['the end of a time range', '2026-01-01T01:00:00Z', '2026-01-01T01:00:02Z', 20],
      ['all before a time', undefined, '2026-01-01T01:00:00Z', LIMIT + 1],
      ['a time in which nothing came', '2025-01-01T00:00:00Z', '2025-01-02T00:00:00Z', 0],
    ])('costs the rows that it shows: %s', async (_which, from, to, shown) => {
      const read = await rowsRead(READ_RECEIVED_EVENTS[order].text, eventsOf(order, [from, to], false));
      expect(read).toMatchObject({ shown, indexes: ['events_received_idx'] });
      expect(read.taken).toBeLessThanOrEqual(shown + ROWS_AHEAD);
      const range = eventsOf(order, [from, to], false).slice(0, 4);
      const small = await rowsRead(READ_SMALL_RECEIVED[order].text, [...range, LIMIT + 1, PAGE_BYTES_MAX]);
      expect(small.shown).toBe(shown);
      expect(small.indexes).toContain('events_received_idx');
      expect(small.taken).toBeLessThanOrEqual(shown + ROWS_AHEAD);
    });

    it('costs the same behind a cursor, far from either end of its range', async () => {
      const after = { at: new Date('2026-01-01T01:30:00Z'), id: MAX_UUID };
      const range = ['2026-01-01T00:30:00Z', '2026-01-01T02:30:00Z'];
      const read = await rowsRead(READ_RECEIVED_EVENTS[order].text, eventsOf(order, range, false, after));
      expect(read).toMatchObject({ shown: LIMIT + 1, indexes: ['events_received_idx'] });
      expect(read.taken).toBeLessThanOrEqual(LIMIT + 1 + ROWS_AHEAD);
    });

    it('looks at no more rows than fill it where they fit a filter', async () => {
      const range = [undefined, '2026-01-01T01:00:00Z'];
      const read = await rowsRead(READ_RECEIVED_EVENTS[order].text, eventsOf(order, range, true));
      expect(read.shown).toBe(LIMIT + 2);
      expect(read.taken).toBeLessThanOrEqual(LIMIT + 2 + ROWS_AHEAD);
    });
  });

  it('of customers costs the rows that it shows, wherever it lies', async () => {
    for (const before of [MAX_UUID, '80000000-0000-0000-0000-000000000000']) {
      const read = await rowsRead(READ_CUSTOMERS, [tenantId, before, LIMIT, PAGE_BYTES_MAX, 10_000]);
      // Of each: its place in the list, and itself once more; none was merged, nor has an identifier.
      expect(read).toEqual({ shown: LIMIT + 1, taken: 2 * (LIMIT + 1), indexes: expect.any(Array) });
      expect(read.indexes).toContain('profiles_pkey');
    }
  });

  it.each(['campaign-3', 'rare'])(
    'of participants costs the rows of its campaign that it shows: %s',
    async (campaignId) => {
      const [middle] = await withClient(url, async (client) => {
        const { rows } = await client.query<{ id: string }>(
          'SELECT id FROM participant_states WHERE campaign_id = $1 ORDER BY id OFFSET 100 LIMIT 1',
          [campaignId],
        );
        return rows;
      });
      for (const before of [MAX_UUID, middle?.id]) {
        const read = await rowsRead(READ_PARTICIPANTS, [
          ...[tenantId, campaignId, before, LIMIT, PAGE_BYTES_MAX, 100, 10_000],
        ]);
        expect(read).toEqual({ shown: LIMIT + 1, taken: LIMIT + 1, indexes: ['participant_states_campaign_idx'] });
      }
    },
  );

  it('of participants ends at the rows that it may look at, of which hardly any has a value', async () => {
    const read = await rowsRead(READ_PARTICIPANTS, [tenantId, 'empty', MAX_UUID, LIMIT, PAGE_BYTES_MAX, 100, 1_000]);
    expect(read).toMatchObject({ shown: 1, taken: 1_000 });
  });

  it.each(['9999-12-31T23:59:59.999Z', '2026-01-01T12:00:00Z'])(
    'of campaigns costs those that it shows and their variables, from %s',
    async (from) => {
      const read = await rowsRead(READ_CAMPAIGNS, [tenantId, from, '', LIMIT + 1]);
      expect(read).toMatchObject({ shown: LIMIT + 1, taken: 2 * (LIMIT + 1) });
      expect(read.indexes).toContain('campaigns_created_idx');
    },
  );

  it.each(['', 'in-001000'])('of a person’s campaigns costs those that it shows, behind "%s"', async (after) => {
    const read = await rowsRead(READ_CAMPAIGN_STATES, [tenantId, 'everywhere', after, LIMIT, PAGE_BYTES_MAX, 10_000]);
    expect(read).toEqual({ shown: LIMIT + 1, taken: LIMIT + 1, indexes: ['participant_states_pkey'] });
  });

  it('of the history of a participant finds the state by its key, however many the campaign and the person have', async () => {
    const end = '253402300799999000';
    const read = await rowsRead(READ_ALL_OF_PARTICIPANT, [
      ...[tenantId, 'everywhere', 'user', 'campaign-3', end, 0, 0, LIMIT + 1, PAGE_BYTES_MAX],
    ]);
    expect(read).toEqual({ shown: 0, taken: 0, indexes: ['participant_states_pkey'] });
  });

  it.each([20_000, 80_000])(
    'of the history of a value costs what it shows, %s seconds behind the first',
    async (at) => {
      const before = Date.parse('2026-01-01T00:00:00Z') + at * 1_000;
      const from = Date.parse('2026-01-01T00:00:00Z');
      const read = await rowsRead(READ_ONE, [
        ...[tenantId, '', 'campaign', 'spring', `${before}000`, 0, from, LIMIT + 1, PAGE_BYTES_MAX, 'total'],
      ]);
      expect(read).toMatchObject({ shown: LIMIT + 1, taken: LIMIT + 1 });
    },
  );

  it('of statistics costs the rows of its steps', async () => {
    const [from, middle, to] = ['2026-01-02T00:00:00Z', '2026-01-02T12:00:00Z', '2026-01-02T13:00:00Z'];
    const read = await rowsRead(readStatisticsBy('source'), [
      ...[tenantId, '3600000 milliseconds', ['hour', 'minute'], [from, middle], [middle, to], [true, true]],
      ...[[], [], to, to, from, to, 200],
    ]);
    // Twelve hours and sixty minutes of ten types.
    expect(read).toMatchObject({ shown: 1 + 13, taken: 720 });
    expect(read.indexes).toContain('ingest_statistics_pkey');
  });

  const columns = { at: 'at', id: 'id', action: `'x'`, recordId: 'NULL', detail: 'NULL' };
  it.each([
    ['unmask_audit_at_idx', { kind: 'unmasked_read', table: 'unmask_audit', ofRecord: { where: 'true' }, ...columns }],
    ['audit_log_pkey', auditNotes('jwt_issuer')],
  ] as const)('of the audit log costs the rows that it shows, in a range too: %s', async (index, table) => {
    for (const [start, from] of [
      ['9999-12-31T23:59:59.999Z', '-infinity'],
      ['2026-01-01T12:00:00Z', '2026-01-01T06:00:00Z'],
    ]) {
      const read = await rowsRead(readAuditTable(table, { ofRecords: false }), [
        ...[tenantId, start, MAX_UUID, from, 'infinity', LIMIT + 1],
      ]);
      expect(read).toEqual({ shown: LIMIT + 1, taken: LIMIT + 1, indexes: [index] });
    }
  });

  it.each([
    ['unmasked_customers_pkey', SHOWN_UNMASKED, 2],
    ['audit_log_record_idx', auditNotes('jwt_issuer'), 1],
  ] as const)('of the audit log of one record costs the rows that it shows: %s', async (index, table, tables) => {
    const record = RECORD.replace('%s', '42');
    const read = await rowsRead(readAuditTable(table, { ofRecords: true }), [
      ...[tenantId, '9999-12-31T23:59:59.999Z', MAX_UUID, '-infinity', 'infinity', LIMIT + 1, [record]],
    ]);
    expect(read).toMatchObject({ shown: LIMIT + 1, taken: tables * (LIMIT + 1) });
    expect(read.indexes).toContain(index);
  });
});
