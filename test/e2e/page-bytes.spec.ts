import { randomBytes } from 'node:crypto';
import { PAGE_BYTES_MAX } from '../../src/platform/pagination/page-bytes';
import { sharedApp, type SharedApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, type Workspace } from '../support/client';
import { rowsOf } from '../support/database';
import { pagesOf } from '../support/pages';

/** What stands around the measured columns, and what JSON takes beyond PostgreSQL's text of it. */
const SURROUNDINGS_BYTES = 128 * 1024;

let service: SharedApp;
let workspace: Workspace;

beforeAll(async () => {
  service = await sharedApp();
});

beforeEach(async () => {
  workspace = await aWorkspace(service);
});

const sql = (text: string, values: readonly unknown[] = []): Promise<{ id: string }[]> =>
  rowsOf(service.databaseUrl, text, [workspace.tenantId, ...values]);

/** Holds pages to their bytes: none weighs more than one row above the limit, and all but the last are full. */
function expectWeights(pages: readonly unknown[][], rowBytes: number): void {
  const weights = pages.map((page) => Buffer.byteLength(JSON.stringify(page)));
  expect(pages.length).toBeGreaterThan(1);
  expect(pages.every((page) => page.length > 0)).toBe(true);
  for (const weight of weights) expect(weight).toBeLessThan(PAGE_BYTES_MAX + rowBytes + SURROUNDINGS_BYTES);
  for (const weight of weights.slice(0, -1)) expect(weight).toBeGreaterThan(PAGE_BYTES_MAX - rowBytes);
}

/** Events of one customer, some of a second; every third is small. Answers their ids, the newest first. */
async function insertEvents(count: number, words: number): Promise<string[]> {
  const [profile] = await sql(
    `INSERT INTO profiles (tenant_id, profile_id, root_id, external_id, email_count, phone_count, device_count, version, created_at)
     SELECT $1, id, id, 'somebody', 0, 0, 0, 1, now() FROM gen_random_uuid() AS id RETURNING profile_id AS id`,
  );
  const rows = await sql(
    `INSERT INTO events (tenant_id, event_id, family, source, external_event_id, event_type, occurred_at, received_at,
       profile_id, identity, properties, content_hash, batch_id)
     SELECT $1, gen_random_uuid(), 'external', CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END, n::text, 'purchase',
       '2026-01-01T00:00:00Z'::timestamptz + (n / 3) * interval '1 second',
       '2026-01-01T00:00:00Z'::timestamptz + (n / 3) * interval '1 second', $2,
       '{}', CASE WHEN n % 3 = 0 THEN '{}' ELSE jsonb_build_object('note', repeat('lorem ipsum ', $4)) END, '\\x00', gen_random_uuid()
     FROM generate_series(1, $3::int) n RETURNING event_id AS id`,
    [profile?.id, count, words],
  );
  expect(rows).toHaveLength(count);
  const sorted = await sql(
    'SELECT event_id AS id FROM events WHERE tenant_id = $1 ORDER BY received_at DESC, event_id DESC',
  );
  return sorted.map(({ id }) => id);
}

async function profileId(): Promise<string> {
  const [profile] = await sql('SELECT profile_id AS id FROM profiles WHERE tenant_id = $1');
  return profile?.id ?? '';
}

const idsOfPage = (page: readonly any[]): string[] => page.map(({ eventId, id }) => eventId ?? id);
const idsOf = (pages: readonly any[][]): string[] => pages.flatMap(idsOfPage);

describe('a page of events', () => {
  const WORDS = 5_000;
  const ROW_BYTES = 60_000;

  it('ends where it weighs half a megabyte, and the next one goes on there, while events arrive', async () => {
    const ids = await insertEvents(90, WORDS);
    const arrive = () => workspace.admin.post('/v1/external-events', anExternalEvent());
    const pages = await pagesOf(workspace.admin, '/v1/events?limit=200', arrive);
    expectWeights(pages, ROW_BYTES);
    expect(idsOf(pages)).toEqual(ids);
  });

  it('is the same with fewer rows, with a filter, and unmasked', async () => {
    const ids = await insertEvents(60, WORDS);
    expect(idsOf(await pagesOf(workspace.admin, '/v1/events?limit=7'))).toEqual(ids);
    const unmasked = await pagesOf(workspace.admin, '/v1/events?limit=200&unmask=true');
    expectWeights(unmasked, ROW_BYTES);
    expect(idsOf(unmasked)).toEqual(ids);
    const odd = await pagesOf(workspace.admin, '/v1/events?limit=200&source=odd');
    expect(odd.flat().every(({ source }) => source === 'odd')).toBe(true);
    expect(odd.flat()).toHaveLength(30);
    expect(odd.length).toBeGreaterThan(1);
  });

  it('has one event at least, however large', async () => {
    const ids = await insertEvents(4, 100_000);
    const pages = await pagesOf(workspace.admin, '/v1/events?limit=200');
    expect(idsOf(pages)).toEqual(ids);
    expect(pages.length).toBeGreaterThan(1);
  });

  it.each(['asc', 'desc'])('of a timeline does so too (%s)', async (order) => {
    const ids = await insertEvents(90, WORDS);
    const path = `/v1/cdp/profiles/${await profileId()}/events?order=${order}&limit=200`;
    const pages = await pagesOf(workspace.admin, path);
    expectWeights(pages, ROW_BYTES);
    expect(idsOf(pages)).toEqual(order === 'asc' ? ids.toReversed() : ids);
    const filtered = await pagesOf(workspace.admin, `${path}&source=even`);
    expect(filtered.flat()).toHaveLength(45);
  });

  it.each([
    ['asc', '/v1/events'],
    ['desc', '/v1/events'],
    ['asc', 'timeline'],
    ['desc', 'timeline'],
  ])('shows small, compressed and large events the same, filtered or not (%s, %s)', async (order, list) => {
    const properties = [
      ...[{}, { note: 'short' }, { note: 'a'.repeat(1_500) }, { note: 'a'.repeat(10_000) }],
      ...[{ random: randomBytes(3_000).toString('base64') }, { numbers: Array<number>(90).fill(1e300) }],
      ...Array<object>(6).fill({ amount: 1 }),
    ];
    await insertEvents(properties.length, 0);
    await sql(
      `UPDATE events SET source = 'shop', properties = $2::jsonb -> external_event_id::int - 1
       WHERE tenant_id = $1 RETURNING event_id AS id`,
      [JSON.stringify(properties)],
    );
    const path = list === 'timeline' ? `/v1/cdp/profiles/${await profileId()}/events` : list;
    for (const limit of [1, 3, 6, 200]) {
      const query = `${path}?order=${order}&limit=${limit}`;
      const pages = await pagesOf(workspace.admin, query);
      expect(pages.map((page) => page.length)).toEqual(
        Array.from({ length: Math.ceil(12 / limit) }, () => Math.min(limit, 12)),
      );
      expect(pages.flat()).toEqual((await pagesOf(workspace.admin, `${query}&source=shop`)).flat());
    }
  });

  it('of an export holds half a megabyte at a time, and the export all of them', async () => {
    const ids = await insertEvents(60, WORDS);
    const { status, body } = await workspace.admin.send(`/v1/cdp/profiles/${await profileId()}:export`, undefined);
    expect(status).toBe(200);
    const records = (body as string)
      .trim()
      .split('\n')
      .map((line): any => JSON.parse(line));
    const exported = records.filter(({ record }) => record === 'event').map(({ data }) => data.eventId);
    expect(exported).toEqual(ids.toReversed());
  });
});

describe('a page of customers', () => {
  it('ends where it weighs half a megabyte with their identifiers and merged profiles', async () => {
    await sql(
      `WITH roots AS (
         INSERT INTO profiles (tenant_id, profile_id, root_id, external_id, email_count, phone_count, device_count, version, created_at)
         SELECT $1, id, id, NULL, 0, 0, 50, 1, now() FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 60)) ids RETURNING profile_id
       ), members AS (
         INSERT INTO profiles (tenant_id, profile_id, root_id, external_id, email_count, phone_count, device_count, version, created_at)
         SELECT $1, gen_random_uuid(), profile_id, NULL, 0, 0, 0, 1, now() FROM roots, generate_series(1, 20)
       )
       INSERT INTO profile_identifiers (tenant_id, kind, value, profile_id)
       SELECT $1, 'DEVICE', n || repeat('x', 200) || profile_id, profile_id FROM roots, generate_series(1, 50) n`,
    );
    const pages = await pagesOf(workspace.admin, '/v1/cdp/profiles?limit=200&unmask=true');
    expectWeights(pages, 20_000);
    expect(new Set(idsOf(pages)).size).toBe(60);
    expect(idsOf(pages)).toEqual(idsOf(pages).toSorted().reverse());
  });
});

describe('a page of review entries', () => {
  const insertEntries = (count: number, faults: number, payload: string): Promise<{ id: string }[]> =>
    sql(
      `INSERT INTO review_entries SELECT $1, gen_random_uuid(), 'error', 'validation', 'required', 'm',
         (SELECT jsonb_agg(jsonb_build_object('path', 'items[' || f || ']', 'code', 'required', 'message', repeat('w', 80)))
          FROM generate_series(1, $3::int) f),
         'cdp', NULL, NULL, NULL, NULL, $4, 'json', 1, now() - n * interval '1 second', now(), 'open'
       FROM generate_series(1, $2::int) n`,
      [count, faults, payload],
    );
  const sorted = async (): Promise<string[]> => {
    const rows = await sql('SELECT id FROM review_entries WHERE tenant_id = $1 ORDER BY first_seen_at DESC, id DESC');
    return rows.map(({ id }) => id);
  };

  it('ends where it weighs half a megabyte with the faults that they name', async () => {
    await insertEntries(30, 1_000, '{"a":1}');
    const pages = await pagesOf(workspace.admin, '/v1/review-entries?limit=200&status=open');
    expectWeights(pages, 150_000);
    expect(idsOf(pages)).toEqual(await sorted());
  });

  it.each([
    ['lists in one another', '['.repeat(20_000) + ']'.repeat(20_000)],
    ['objects in one another', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
    ['commas in a deep list', `${'['.repeat(10_000)}${'1,'.repeat(100_000)}1${']'.repeat(10_000)}`],
    ['pairs of brackets', `[${'[],'.repeat(80_000)}1]`],
  ])('with payloads of %s is answered, masked and unmasked, and so is each by its address', async (_what, payload) => {
    await insertEntries(100, 1, payload);
    for (const unmask of ['', '&unmask=true']) {
      const pages = await pagesOf(workspace.admin, `/v1/review-entries?limit=200${unmask}`);
      expect(idsOf(pages)).toEqual(await sorted());
      expect(pages.flat().every(({ payloadTruncated }) => payloadTruncated === true)).toBe(true);
    }
    const [id] = await sorted();
    for (const query of ['', '?unmask=true']) {
      const { status, body } = await workspace.admin.get(`/v1/review-entries/${id}${query}`);
      expect([status, body.payload !== null, body.payloadTruncated]).toEqual([200, true, undefined]);
    }
  });

  it('has an address of its own for each that shows 262,144 characters of a payload', async () => {
    await insertEntries(1, 1, `{"items":[${'{"source":"shop","note":"x"},'.repeat(100_000)}1]}`);
    const [id] = await sorted();
    for (const query of ['', '?unmask=true']) {
      const { status, body } = await workspace.admin.get(`/v1/review-entries/${id}${query}`);
      expect([status, body.payloadTruncated]).toEqual([200, true]);
      expect(body.payload.items.length).toBeGreaterThan(8_000);
      expect(body.payload.items.length).toBeLessThan(9_500);
    }
  });
});

describe('a page of', () => {
  it('event types ends where it weighs half a megabyte, as do the versions of one', async () => {
    await sql(
      `WITH types AS (
         INSERT INTO event_types SELECT $1, 'type-' || n, now() - n * interval '1 second', NULL FROM generate_series(1, 20) n
         RETURNING event_type
       )
       INSERT INTO event_type_versions
       SELECT $1, event_type, version, json_build_object('eventType', event_type, 'description', repeat('x', 150000),
         'properties', json_build_object(), 'additionalProperties', 'reject'), now(), 'test'
       FROM types, generate_series(1, 20) version`,
    );
    const pages = await pagesOf(workspace.admin, '/v1/cdp/event-types?limit=200');
    expectWeights(pages, 150_000);
    expect(pages.flat().map(({ eventType }) => eventType)).toEqual(
      Array.from({ length: 20 }, (_, n) => `type-${n + 1}`),
    );
    const { status, body } = await workspace.admin.get('/v1/cdp/event-types/type-1');
    expect(status).toBe(200);
    expect(body.versions.map(({ version }: { version: number }) => version)).toEqual([20, 19, 18, 17]);
  });

  it('reactions ends where it weighs half a megabyte', async () => {
    await sql(
      `INSERT INTO reactions (tenant_id, campaign_id, name, id, event_type, source, condition, operations, enabled, applies_from,
         created_at, updated_at)
       SELECT $1, 'spring', 'r' || n, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'purchase', NULL, NULL,
         json_build_array(json_build_object('path', 'state.user.a', 'op', 'set', 'value', repeat('x', 150000))), true, now(), now(), now()
       FROM generate_series(1, 30) n`,
    );
    const pages = await pagesOf(workspace.admin, '/v1/campaigns/spring/reactions?limit=200');
    expectWeights(pages, 150_000);
    expect(pages.flat().map(({ name }) => name)).toEqual(Array.from({ length: 30 }, (_, n) => `r${30 - n}`));
  });

  it('token issuers and of API keys ends where it weighs half a megabyte', async () => {
    await sql(
      `INSERT INTO jwt_issuers (tenant_id, id, issuer, audience, algorithms, jwks, campaign_claim, app_claim,
         clock_tolerance_seconds, origin, created_at, created_by)
       SELECT $1::uuid, gen_random_uuid(), 'https://login-' || n || '-' || $1::uuid::text || '.example.com/', 'a', '{RS256}',
         jsonb_build_object('keys', jsonb_build_array(jsonb_build_object('n', repeat('x', 60000)))), 'c', 'a', 5, 'api',
         date_trunc('milliseconds', now()) - n * interval '1 second', 'test'
       FROM generate_series(1, 40) n`,
    );
    const issuers = await pagesOf(workspace.admin, '/v1/jwt-issuers?limit=200');
    expectWeights(issuers, 70_000);
    expect(new Set(idsOf(issuers)).size).toBe(40);
    const names = issuers.flat().map(({ issuer }) => Number(/login-(\d+)-/.exec(issuer)?.[1]));
    expect(names).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
    await sql(
      `INSERT INTO api_keys (tenant_id, id, name, key_hash, hint, scopes, sources, origin, created_at, created_by)
       SELECT $1::uuid, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'key ' || n,
         sha256(($1::uuid::text || n)::bytea), 'h', '{events:read}',
         ARRAY(SELECT repeat('ü', 120) || s FROM generate_series(1, 100) s), 'api', now(), 'test'
       FROM generate_series(1, 100) n`,
    );
    const keys = await pagesOf(workspace.admin, '/v1/api-keys?limit=200&state=ACTIVE');
    expectWeights(keys, 30_000);
    // With the one that the workspace began with.
    expect(new Set(idsOf(keys)).size).toBe(101);
  });
});

describe('a page of webhooks', () => {
  /** Endpoints with rules for events; some conditions are small. Answers their ids, the newest first. */
  const insertWebhooks = async (count: number, rules: number): Promise<string[]> => {
    await sql(
      `WITH endpoints AS (
         INSERT INTO webhook_endpoints (tenant_id, id, url, unmask, algorithm, secret, enabled, created_at, created_by, updated_at)
         SELECT $1, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'https://hooks.example.com/' || n, false,
           'hmac-sha256', '\\x00', true, now(), 'test', now()
         FROM generate_series(1, $2::int) n RETURNING id
       )
       INSERT INTO webhook_rules (tenant_id, endpoint_id, position, event_type, condition, applies_from)
       SELECT $1, id, r, 'type-' || r, json_build_object('==', json_build_array('', CASE WHEN r % 4 = 0 THEN '' ELSE repeat('ü', 3900) END)),
         now()
       FROM endpoints, generate_series(0, $3::int - 1) r`,
      [count, rules],
    );
    const rows = await sql('SELECT id FROM webhook_endpoints WHERE tenant_id = $1 ORDER BY id DESC');
    expect(rows).toHaveLength(count);
    return rows.map(({ id }) => id);
  };

  it('ends where it weighs half a megabyte with the rules of its endpoints', async () => {
    const ids = await insertWebhooks(30, 16);
    const pages = await pagesOf(workspace.admin, '/v1/webhooks?limit=200');
    expectWeights(pages, 100_000);
    expect(idsOf(pages)).toEqual(ids);
    expect(pages.flat().every(({ events }) => events.length === 16 && events[15].eventType === 'type-15')).toBe(true);
    expect(idsOf(await pagesOf(workspace.admin, '/v1/webhooks?limit=2'))).toEqual(ids);
  });

  it('has all endpoints of a workspace where their rules are small', async () => {
    const ids = await insertWebhooks(50, 1);
    expect((await pagesOf(workspace.admin, '/v1/webhooks?limit=200')).map(idsOfPage)).toEqual([ids]);
  });
});

describe('a page of deliveries', () => {
  const WEBHOOK = '00000000-0000-7000-8000-000000000001';
  const STATES = ['pending', 'delivered', 'failed'];

  /** Deliveries of one endpoint in all states, four of a time; every fifth is small. Answers their ids, the newest first. */
  const insertDeliveries = async (count: number, attempts: number): Promise<string[]> => {
    await sql(
      `INSERT INTO webhook_endpoints (tenant_id, id, url, unmask, algorithm, secret, enabled, created_at, created_by, updated_at)
       VALUES ($1, $2, 'https://hooks.example.com/', false, 'hmac-sha256', '\\x00', false, now(), 'test', now())`,
      [WEBHOOK],
    );
    await sql(
      `INSERT INTO webhook_deliveries (tenant_id, event_id, endpoint_id, profile_id, seq, state, attempt_count, attempts, created_at)
       SELECT $1, gen_random_uuid(), $2, gen_random_uuid(), n / 4, ($5::text[])[n % 3 + 1], $4, coalesce((
         SELECT jsonb_agg(jsonb_build_object('at', '2026-01-02T03:04:05.000Z', 'outcome', 'refused_status', 'status', 500,
           'answer', repeat('ü', 1000), 'durationMs', a))
         FROM generate_series(1, $4::int) a WHERE n % 5 > 0
       ), '[]'), now()
       FROM generate_series(1, $3::int) n`,
      [WEBHOOK, count, attempts, STATES],
    );
    const rows = await sql(
      'SELECT event_id AS id FROM webhook_deliveries WHERE tenant_id = $1 ORDER BY seq DESC, event_id DESC',
    );
    expect(rows).toHaveLength(count);
    return rows.map(({ id }) => id);
  };

  it('ends where it weighs half a megabyte with their attempts, in all states and in one', async () => {
    const ids = await insertDeliveries(90, 20);
    const path = `/v1/webhooks/${WEBHOOK}/deliveries?limit=200`;
    const pages = await pagesOf(workspace.admin, path);
    expectWeights(pages, 45_000);
    expect(idsOf(pages)).toEqual(ids);
    expect(pages.flat().every(({ attempts }) => [0, 20].includes(attempts.length))).toBe(true);
    const shown = new Map(pages.flat().map(({ id, state }) => [id, state]));
    for (const state of STATES) {
      const ofState = await pagesOf(workspace.admin, `${path}&state=${state}`);
      expectWeights(ofState, 45_000);
      expect(idsOf(ofState)).toEqual(ids.filter((id) => shown.get(id) === state));
    }
  });

  it('has as many as were asked for where they are small, newest first, though others are added', async () => {
    const ids = await insertDeliveries(60, 1);
    const add = (): Promise<unknown> =>
      sql(
        `INSERT INTO webhook_deliveries (tenant_id, event_id, endpoint_id, profile_id, seq, state, attempt_count, attempts, created_at)
         VALUES ($1, gen_random_uuid(), $2, gen_random_uuid(), 1000, 'pending', 0, '[]', now())`,
        [WEBHOOK],
      );
    const pages = await pagesOf(workspace.admin, `/v1/webhooks/${WEBHOOK}/deliveries?limit=7`, add);
    expect(idsOf(pages)).toEqual(ids);
    expect(pages.map(({ length }) => length)).toEqual([7, 7, 7, 7, 7, 7, 7, 7, 4]);
  });
});
