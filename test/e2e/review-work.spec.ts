import { randomUUID } from 'node:crypto';
import { sharedApp, type SharedApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aClient, aWorkspace, type Client, expectProblem, reviewEntries, theReviewEntry } from '../support/client';
import { rowsOf, withClient } from '../support/database';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

async function refused(client: Client, fields: Record<string, unknown> = {}): Promise<any> {
  const event = anExternalEvent(fields);
  expect((await client.post('/v1/external-events', { ...event, identity: undefined })).status).toBe(422);
  return event;
}

describe('long payloads', () => {
  const note = 'x'.repeat(100);
  const long = { attributes: Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`field_${index}`, note])) };

  it('are shown by their beginning in the list, masked like the whole, and whole by id', async () => {
    const client = await aClient(service);
    const event = { custId: 'abcdef', ...anExternalEvent({ identity: { type: 'X', value: 'abcdef' }, ...long }) };
    await client.post('/v1/external-events', event);
    const entry = await theReviewEntry(client);
    expect(entry).toMatchObject({ payloadTruncated: true, payload: { source: 'shop.orders', custId: 'ab***' } });
    expect(JSON.stringify(entry.payload).length).toBeLessThanOrEqual(4_096);
    expect(Object.keys(entry.payload.attributes).length).toBeGreaterThan(20);
    const whole = (await client.get(`/v1/review-entries/${entry.id}`)).body;
    const identity = { type: '***', value: 'ab***' };
    expect(whole.payload).toEqual({ ...event, custId: 'ab***', identity });
    expect(whole).not.toHaveProperty('payloadTruncated');
  });

  it('cost a list of many of them little', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    await withClient(service.databaseUrl, (database) =>
      database.query(
        `INSERT INTO review_entries SELECT $1, gen_random_uuid(), 'error', 'request', 'batch_too_large', 'm', '[]', 'cdp',
           NULL, NULL, NULL, NULL, '{"items":[' || repeat('{"source":"s"},', 350000) || '1]}', 'json', 1, now(), now(), 'open'
         FROM generate_series(1, 20)`,
        [tenantId],
      ),
    );
    const timed = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
      const startedAt = performance.now();
      const result = await work();
      return [result, performance.now() - startedAt];
    };
    const [{ body }, listMs] = await timed(() => admin.get('/v1/review-entries?limit=200'));
    expect(body.items).toHaveLength(20);
    expect(JSON.stringify(body).length).toBeLessThan(20 * 8_192);
    // Whole, they are 100 MB. A list that reads them has to parse and mask them, too.
    const whole = 'SELECT payload FROM review_entries WHERE tenant_id = $1';
    const [, wholeMs] = await timed(() => rowsOf(service.databaseUrl, whole, [tenantId]));
    expect(listMs).toBeLessThan(wholeMs);
  });

  it('that are no JSON are cut as text', async () => {
    const client = await aClient(service);
    await client.send('/v1/external-events', `{"email":"jane@example.com","a":"${'é'.repeat(5_000)}`);
    const entry = await theReviewEntry(client);
    expect(entry.payloadTruncated).toBe(true);
    expect(entry.payload.length).toBeLessThanOrEqual(4_096);
    expect(entry.payload).not.toContain('jane@');
  });
});

describe('GET /v1/review-entries:summary', () => {
  it('counts open entries by reason, source and event type', async () => {
    const client = await aClient(service);
    await refused(client);
    await refused(client, { type: 'refund' });
    const event = await refused(client, { source: 'crm' });
    await client.post('/v1/external-events', { ...event, source: undefined });
    await client.send('/v1/external-events', '{');
    const done = await refused(client, { source: 'done' });
    await client.post('/v1/external-events', done);
    const { status, body } = await client.get('/v1/review-entries:summary');
    expect([status, body]).toEqual([
      200,
      {
        status: 'open',
        total: 5,
        byReason: [
          { reason: 'required', count: 4 },
          { reason: 'malformed_json', count: 1 },
        ],
        bySource: [
          { source: 'shop.orders', count: 2 },
          { source: null, count: 2 },
          { source: 'crm', count: 1 },
        ],
        byEventType: [
          { eventType: 'purchase', count: 3 },
          { eventType: 'refund', count: 1 },
          { eventType: null, count: 1 },
        ],
      },
    ]);
    expect((await client.get('/v1/review-entries%3Asummary?status=superseded')).body).toMatchObject({
      status: 'superseded',
      total: 1,
      bySource: [{ source: 'done', count: 1 }],
    });
    expect((await (await aClient(service)).get('/v1/review-entries:summary')).body).toEqual({
      status: 'open',
      total: 0,
      byReason: [],
      bySource: [],
      byEventType: [],
    });
  });

  it('names the 100 largest groups, and counts the others in the total', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    await withClient(service.databaseUrl, async (database) => {
      await database.query(
        `INSERT INTO review_entries SELECT $1, gen_random_uuid(), 'error', 'validation', 'required', 'm', '[]', 'cdp',
           'source-' || (n % 150), NULL, NULL, NULL, '{}', 'json', 1, now(), now(), 'open'
         FROM generate_series(0, 199) n`,
        [tenantId],
      );
    });
    const { body } = await admin.get('/v1/review-entries:summary');
    expect([body.total, body.bySource.length]).toEqual([200, 100]);
    const counts: number[] = body.bySource.map(({ count }: { count: number }) => count);
    expect(counts).toEqual([...Array.from({ length: 50 }, () => 2), ...Array.from({ length: 50 }, () => 1)]);
  });

  it('takes review:read, and no other query', async () => {
    const workspace = await aWorkspace(service);
    const writer = await workspace.client({ scopes: ['review:write'] });
    expectProblem(await writer.get('/v1/review-entries:summary'), 403, 'insufficient_scope');
    expectProblem(await workspace.admin.get('/v1/review-entries:summary?status=x'), 422, 'validation_failed', [
      'status enum',
    ]);
    expectProblem(await workspace.admin.get('/v1/review-entries:summarise'), 404, 'not_found');
  });
});

describe('POST /v1/review-entries/{id}:dismiss', () => {
  const dismiss = (client: Client, { id }: { id: string }, body?: object) =>
    client.send(`/v1/review-entries/${id}:dismiss`, body === undefined ? undefined : JSON.stringify(body));

  it('closes an entry with a note, once: doing it again changes nothing', async () => {
    const client = await aClient(service);
    await refused(client);
    const entry = await theReviewEntry(client);
    const { status, body } = await dismiss(client, entry, { note: 'Test data, says jane@example.com' });
    expect([status, body]).toEqual([
      200,
      {
        ...entry,
        status: 'dismissed',
        resolution: { action: 'dismissed', at: TIME, by: expect.any(String), note: 'Test data, says j***@e***.com' },
      },
    ]);
    for (const again of [undefined, {}, { note: 'Other' }, { note: null }]) {
      expect((await dismiss(client, entry, again)).body).toEqual(body);
    }
    expect(await reviewEntries(client, '&status=dismissed')).toEqual([body]);
  });

  it('takes warnings, and leaves entries alone that were closed otherwise', async () => {
    const client = await aClient(service);
    await client.post('/v1/external-events', anExternalEvent({ occurred_at: '2999-01-01T00:00:00Z' }));
    expect((await dismiss(client, await theReviewEntry(client))).body.status).toBe('dismissed');
    const event = await refused(client);
    await client.post('/v1/external-events', event);
    const [superseded] = await reviewEntries(client, '&status=superseded');
    expect((await dismiss(client, superseded, { note: 'x' })).body).toEqual(superseded);
  });

  it('is undone by the same problem happening again', async () => {
    const client = await aClient(service);
    const event = await refused(client);
    await dismiss(client, await theReviewEntry(client));
    await client.post('/v1/external-events', { ...event, identity: undefined });
    expect(await theReviewEntry(client)).toMatchObject({ status: 'open', occurrences: 2, resolution: null });
  });

  it('refuses notes that are too long, no text or cannot be stored, unknown entries, and callers without the scope', async () => {
    const workspace = await aWorkspace(service);
    const client = workspace.admin;
    await refused(client);
    const entry = await theReviewEntry(client);
    for (const [note, code] of [
      ['x'.repeat(1_001), 'too_long'],
      [1, 'type'],
      ['a\u0000', 'invalid_characters'],
    ] as const) {
      expectProblem(await dismiss(client, entry, { note }), 422, 'validation_failed', [`note ${code}`]);
    }
    expectProblem(await dismiss(client, { id: randomUUID() }), 404, 'not_found');
    expectProblem(await dismiss(await aClient(service), entry), 404, 'not_found');
    const reader = await workspace.client({ scopes: ['review:read'] });
    expectProblem(await dismiss(reader, entry), 403, 'insufficient_scope');
    expect(await theReviewEntry(client)).toEqual(entry);
  });
});
