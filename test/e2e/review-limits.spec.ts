import { randomUUID } from 'node:crypto';
import { processingProblem } from '../../src/processing/domain/processing-outcome';
import { ReviewService } from '../../src/review/review.service';
import { startApp, type TestApp } from '../support/app';
import { aCdpEvent, anExternalEvent, INGEST_FAMILIES } from '../support/builders';
import { aClient, aWorkspace, Client, expectProblem, reviewEntries, theReviewEntry } from '../support/client';
import { rowsOf } from '../support/database';
import { growth, metricsOf } from '../support/metrics';
import { beginReplay, replayOnce } from '../support/review';
import { aStoredEvent } from '../support/stored-event';

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
/** A few refusals of a kilobyte. */
const BYTES_PER_DAY = 8 * KIBIBYTE;

let service: TestApp;
let strict: TestApp;

beforeAll(async () => {
  service = await startApp();
  strict = await startApp({ REVIEW_BYTES_PER_DAY_MAX: String(BYTES_PER_DAY) });
});

afterAll(async () => {
  await service.stop();
  await strict.stop();
});

const sendZipped = (client: Client, path: string, text: string) => client.send(path, text);

async function keptBytes(tenantId: string): Promise<number[]> {
  const rows = await rowsOf<{ bytes: number }>(
    service.databaseUrl,
    'SELECT octet_length(payload) AS bytes FROM review_entries WHERE tenant_id = $1 AND payload IS NOT NULL ORDER BY id',
    [tenantId],
  );
  return rows.map(({ bytes }) => bytes);
}

describe.each(INGEST_FAMILIES)('a body of the $family family that is no JSON', ({ batchPath, path }) => {
  it.each([
    ['of 5 MiB', '{"items":[' + 'x'.repeat(5 * MEBIBYTE - 10)],
    ['of characters of three bytes', '{' + '€'.repeat(40_000)],
    ['of characters that are escaped', '{' + '\u0000'.repeat(30_000)],
  ])('%s is kept with its first 64 KiB, and says so', async (_what, text) => {
    const { tenantId, admin } = await aWorkspace(service);
    expectProblem(await sendZipped(admin, batchPath, text), 400, 'malformed_json');
    const entry = await theReviewEntry(admin);
    const [bytes = 0, ...others] = await keptBytes(tenantId);
    expect(others).toEqual([]);
    expect(bytes).toBeLessThanOrEqual(64 * KIBIBYTE);
    expect(bytes).toBeGreaterThan(64 * KIBIBYTE - 8);
    expect(entry).toMatchObject({ reason: 'malformed_json', payloadState: 'cut' });
    const { payload } = (await admin.get(`/v1/review-entries/${entry.id}?unmask=true`)).body;
    expect(payload.startsWith(text.slice(0, 10).replaceAll('\u0000', '\\u0000'))).toBe(true);
    expect(payload).not.toContain('\ufffd');
  });

  it('is another problem where it differs behind what is kept', async () => {
    const client = await aClient(service);
    for (const end of ['a', 'a', 'b']) await client.send(batchPath, `${'x'.repeat(70_000)}${end}`);
    const counts = (await reviewEntries(client)).map(({ occurrences }) => occurrences as number);
    expect(counts.sort()).toEqual([1, 2]);
  });

  it('and is short is kept whole; one over its limit is cut', async () => {
    const client = await aClient(service);
    await client.send(path, '{"source":');
    expect(await theReviewEntry(client)).toMatchObject({ payload: '{"source":', payloadState: 'whole' });
    const other = await aClient(service);
    await other.send(path, ' '.repeat(256 * KIBIBYTE + 1));
    expect(await theReviewEntry(other)).toMatchObject({ reason: 'payload_too_large', payloadState: 'cut' });
  });
});

describe('a refused item of a batch', () => {
  it('is kept whole up to 256 KiB, and can be replayed', async () => {
    const client = await aClient(service);
    const item = aCdpEvent({ properties: { amount: 1, note: 'n'.repeat(60 * KIBIBYTE) } });
    await client.post('/v1/cdp/events/batch', { items: [item] });
    const entry = await theReviewEntry(client);
    expect(entry).toMatchObject({ reason: 'unregistered_event_type', payloadState: 'whole' });
    await client.post('/v1/cdp/event-types', {
      eventType: 'purchase',
      properties: { amount: { type: 'number' }, note: { type: 'string' } },
    });
    const { body } = await client.send(`/v1/review-entries/${entry.id}:replay`, undefined);
    expect(body.outcome.status).toBe('accepted');
  });

  it('is kept whole also where all of a batch are large, which takes several statements', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    const items = Array.from({ length: 19 }, () =>
      anExternalEvent({ attributes: { note: 'n'.repeat(250 * KIBIBYTE) } }),
    );
    await admin.post('/v1/external-events:batch', { items });
    const ids = (await reviewEntries(admin)).map(({ externalEventId }) => externalEventId as string);
    expect(ids.sort()).toEqual(items.map((item) => item['external_event_id'] as string).sort());
    expect(await keptBytes(tenantId)).toHaveLength(19);
  });

  it('is kept with its beginning beyond that, and a replay says why it cannot be sent', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    const item = anExternalEvent({ attributes: { note: 'n'.repeat(MEBIBYTE) } });
    await admin.post('/v1/external-events:batch', { items: [item] });
    const entry = await theReviewEntry(admin);
    expect(entry).toMatchObject({ externalEventId: item['external_event_id'], payloadState: 'cut' });
    expect(await keptBytes(tenantId)).toEqual([64 * KIBIBYTE]);
    const refused = await admin.send(`/v1/review-entries/${entry.id}:replay`, undefined);
    expectProblem(refused, 422, 'validation_failed', ['payload not_replayable']);
    expect(refused.body.message).toContain('beginning');
    const payload = { ...item, attributes: { note: 'n' } };
    const { body } = await admin.post(`/v1/review-entries/${entry.id}:replay`, { payload });
    expect(body.outcome.status).toBe('accepted');
  });

  it('is bounded also as a warning: white space of an event that is accepted is not kept', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    const item = JSON.stringify(anExternalEvent({ occurred_at: '2999-01-01T00:00:00Z' }));
    const wide = item.replace('{', `{${' '.repeat(MEBIBYTE)}`);
    const { body } = await admin.send('/v1/external-events:batch', `{"items":[${wide}]}`);
    expect(body.results[0].status).toBe('accepted');
    expect(await theReviewEntry(admin)).toMatchObject({ reason: 'clock_skew', payloadState: 'cut' });
    expect(await keptBytes(tenantId)).toEqual([64 * KIBIBYTE]);
  });

  it('is a whole batch where its envelope is refused, of which as much is kept', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    const items = Array.from({ length: 500 }, () => anExternalEvent({ attributes: { note: 'n'.repeat(1_000) } }));
    await admin.post('/v1/external-events:batch', { items, colour: 'red' });
    expect(await theReviewEntry(admin)).toMatchObject({ reason: 'unknown_field', payloadState: 'cut' });
    expect(await keptBytes(tenantId)).toEqual([64 * KIBIBYTE]);
  });
});

describe('with REVIEW_BYTES_PER_DAY_MAX', () => {
  const refused = () => anExternalEvent({ identity: {}, attributes: { note: 'n'.repeat(500) } });
  const sendRefused = async (client: Client, count: number): Promise<void> => {
    const items = Array.from({ length: count }, refused);
    const { body } = await client.post('/v1/external-events:batch', { items });
    expect(body.results.every(({ status }: any) => status === 'error')).toBe(true);
  };
  const counted = async (client: Client) =>
    (await reviewEntries(client)).filter(({ payloadState }) => payloadState === 'not_kept');

  it('counts what comes beyond it in one entry for each reason, which is there when the answer is', async () => {
    const { tenantId, admin } = await aWorkspace(strict);
    await sendRefused(admin, 40);
    const [first, ...others] = await counted(admin);
    expect(others).toEqual([]);
    const { length: kept } = await keptBytes(tenantId);
    expect(kept).toBeGreaterThan(2);
    expect(first).toMatchObject({
      severity: 'error',
      stage: 'validation',
      reason: 'required',
      family: 'external',
      status: 'open',
      source: null,
      externalEventId: null,
      payload: null,
      details: [],
      occurrences: 40 - kept,
      message: expect.stringContaining('REVIEW_BYTES_PER_DAY_MAX'),
    });
    const sum = (await keptBytes(tenantId)).reduce((total, bytes) => total + bytes);
    expect(sum).toBeLessThanOrEqual(BYTES_PER_DAY);
    for (let more = 1; more <= 3; more += 1) {
      await admin.post('/v1/external-events', refused());
      expect((await admin.get(`/v1/review-entries/${first.id}`)).body.occurrences).toBe(40 - kept + more);
    }
    await admin.send('/v1/external-events', `{"source":"${'x'.repeat(5_000)}`);
    expect((await counted(admin)).map(({ reason, occurrences }) => `${reason} ${occurrences}`)).toEqual([
      ...['malformed_json 1', `required ${43 - kept}`],
    ]);
    // Rows are bounded too.
    expect(await reviewEntries(admin)).toHaveLength(kept + 2);
  });

  it('counts an entry that is there up as it is, and keeps what it holds', async () => {
    const { admin } = await aWorkspace(strict);
    const event = refused();
    await admin.post('/v1/external-events', event);
    const before = await theReviewEntry(admin);
    await sendRefused(admin, 40);
    await admin.post('/v1/external-events', { ...event, attributes: { note: 'm'.repeat(5_000) } });
    await admin.post('/v1/external-events', event);
    const { body } = await admin.get(`/v1/review-entries/${before.id}`);
    expect(body).toEqual({ ...before, occurrences: 3, lastSeenAt: expect.any(String) });
    // And its repetition costs nothing where there is room.
    const other = await aWorkspace(strict);
    for (let time = 0; time < 40; time += 1) await other.admin.post('/v1/external-events', event);
    expect(await theReviewEntry(other.admin)).toMatchObject({ occurrences: 40, payloadState: 'whole' });
  });

  it('counts each problem in the metrics, kept or not', async () => {
    const { admin } = await aWorkspace(strict);
    const name = 'cds_review_problems_total';
    const before = await metricsOf(strict.url);
    await sendRefused(admin, 40);
    expect(growth(before, await metricsOf(strict.url), name)).toEqual({
      [`${name}{severity="error",reason="required"}`]: 40,
    });
  });

  it('counts warnings in the transaction of their events', async () => {
    const { tenantId, admin } = await aWorkspace(strict);
    const items = Array.from({ length: 60 }, () => anExternalEvent({ occurred_at: '2999-01-01T00:00:00Z' }));
    const { body } = await admin.post('/v1/external-events:batch', { items });
    expect(body.results.every(({ status }: any) => status === 'accepted')).toBe(true);
    const { length: kept } = await keptBytes(tenantId);
    expect(await counted(admin)).toMatchObject([{ severity: 'warning', reason: 'clock_skew', occurrences: 60 - kept }]);
  });

  it('is replayed nothing that was only counted, single or with many', async () => {
    const { admin } = await aWorkspace(strict);
    await sendRefused(admin, 40);
    const [entry] = await counted(admin);
    for (const body of [{}, { payload: anExternalEvent() }]) {
      const answer = await admin.post(`/v1/review-entries/${entry.id}:replay`, body);
      expectProblem(answer, 422, 'validation_failed', ['payload not_replayable']);
      expect(answer.body.message).toContain('has no payload');
    }
    const all = await reviewEntries(admin, '&status=open');
    const replay = await replayOnce(() => admin, await beginReplay(admin, {}));
    expect(replay).toMatchObject({ total: all.length - 1, failed: all.length - 1 });
    expect((await admin.get(`/v1/review-entries/${entry.id}`)).body).toEqual(entry);
  });

  it('is of each workspace and of each day of the database', async () => {
    const [full, other] = [await aWorkspace(strict), await aWorkspace(strict)];
    await sendRefused(full.admin, 40);
    await sendRefused(other.admin, 1);
    expect(await theReviewEntry(other.admin)).toMatchObject({ payloadState: 'whole' });
    await rowsOf(service.databaseUrl, 'UPDATE review_bytes SET day = day - 1 WHERE tenant_id = $1', [full.tenantId]);
    const before = (await keptBytes(full.tenantId)).length;
    await sendRefused(full.admin, 1);
    expect(await keptBytes(full.tenantId)).toHaveLength(before + 1);
  });

  it('is exceeded by little, however many nodes write at once, and every refusal is kept or counted', async () => {
    const node = await startApp({ REVIEW_BYTES_PER_DAY_MAX: String(BYTES_PER_DAY) });
    const { tenantId, admin } = await aWorkspace(strict);
    const there = new Client(node.url, admin.key);
    const clients = Array.from({ length: 20 }, (_unused, place) => (place % 2 === 0 ? admin : there));
    await Promise.all(clients.map((client) => sendRefused(client, 5)));
    const entries = await reviewEntries(admin);
    expect(entries.reduce<number>((sum, { occurrences }) => sum + Number(occurrences), 0)).toBe(100);
    expect(await counted(admin)).toHaveLength(1);
    const sum = (await keptBytes(tenantId)).reduce((total, bytes) => total + bytes);
    // What two nodes have under way at a time.
    expect(sum).toBeLessThanOrEqual(3 * BYTES_PER_DAY);
    await node.stop();
  });
});

describe('with REVIEW_BYTES_PER_DAY_MAX=0', () => {
  let none: TestApp;

  beforeAll(async () => {
    none = await startApp({ REVIEW_BYTES_PER_DAY_MAX: '0' });
  });

  afterAll(() => none.stop());

  it('no payload is kept at all', async () => {
    const { tenantId, admin } = await aWorkspace(none);
    for (let time = 0; time < 2; time += 1) await admin.post('/v1/cdp/events', aCdpEvent({ identity: {} }));
    expect(await theReviewEntry(admin)).toMatchObject({ payload: null, payloadState: 'not_kept', occurrences: 2 });
    expect(await keptBytes(tenantId)).toEqual([]);
  });

  it('an event whose processing failed has an entry of its own all the same, by which it is replayed', async () => {
    const { tenantId, admin } = await aWorkspace(none);
    const eventIds = [randomUUID(), randomUUID()];
    const problems = eventIds.map((eventId) =>
      processingProblem(
        tenantId,
        aStoredEvent({ externalEventId: eventId, eventId }),
        { code: 'validation_failed', message: 'A value does not fit.', details: [] },
        Date.now(),
      ),
    );
    await none.app.get(ReviewService).record(tenantId, problems);
    const entries = await reviewEntries(admin);
    expect(entries.map(({ eventId }) => eventId as string).sort()).toEqual([...eventIds].sort());
    for (const entry of entries) expect(entry).toMatchObject({ payload: null, payloadState: 'stored' });
  });
});
