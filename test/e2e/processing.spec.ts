import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent, PURCHASE, registerTypes } from '../support/builders';
import { aClient, aWorkspace, expectProblem, theReviewEntry, type Client } from '../support/client';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { prepareEffects, recordEffects, type RecordingEffect } from '../support/processing';
import { beginReplay, replayOnce, sendTooEarly } from '../support/review';
import { until } from '../support/until';

const EVENTS = '/v1/external-events';
const SUMMARY = '/v1/processing/summary';

let service: TestApp;
let effect: RecordingEffect;

beforeAll(async () => {
  const url = await freshDatabaseUrl('processing_routes');
  await prepareEffects(url);
  service = await startApp({}, url, [], { processesEvents: true });
  effect = recordEffects(service.app);
});

afterAll(() => service.stop());

/** Sends an event and answers its id. */
async function sent(client: Client, fields: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await client.post(EVENTS, anExternalEvent(fields));
  expect(status).toBe(202);
  return body.event_id as string;
}

const shown = async (client: Client, id: string): Promise<any> => (await client.get(`/v1/events/${id}`)).body;

/** The event's record once it is in this state. */
async function inState(client: Client, id: string, state: string): Promise<any> {
  await until(async () => (await shown(client, id)).processing.state === state);
  return shown(client, id);
}

/** An event that failed for good, and what it takes to process it after all. */
async function aFailedEvent(client: Client, fields: Record<string, unknown> = {}) {
  const event = anExternalEvent({ attributes: { breaks: 'never-fits' }, ...fields });
  const { body } = await client.post(EVENTS, event);
  const id = body.event_id as string;
  await inState(client, id, 'failed');
  return { id, event, mend: () => mend(id) };
}

/** As if the cause were repaired that the event itself names. */
const mend = (id: string) =>
  rowsOf(service.databaseUrl, `UPDATE events SET properties = '{}' WHERE event_id = $1`, [id]);

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

const timesApplied = async (id: string): Promise<number> =>
  (await rowsOf(service.databaseUrl, 'SELECT 1 FROM test_effects WHERE event_id = $1', [id])).length;

describe('the record of an event', () => {
  it('says that it was processed, when, and what reactions did; in lists, timelines and exports too', async () => {
    const client = await aClient(service);
    const id = await sent(client);
    const { processing, profileId } = await inState(client, id, 'processed');
    expect(processing).toEqual({
      state: 'processed',
      attempts: 1,
      lastError: null,
      processedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      reactions: [{ campaignId: 'spring', name: 'thank', outcome: 'applied' }],
    });
    expect((await client.get('/v1/events')).body.items[0].processing).toEqual(processing);
    expect((await client.get(`/v1/cdp/profiles/${profileId}/events`)).body.items[0].processing).toEqual(processing);
  });

  it('says why it failed, without any value', async () => {
    const client = await aClient(service);
    const { id } = await aFailedEvent(client, { identity: { type: 'EXTERNAL', value: 'jane-value' } });
    expect((await shown(client, id)).processing).toEqual({
      state: 'failed',
      attempts: 1,
      lastError: 'validation_failed: A value does not fit.',
      processedAt: expect.stringMatching(/Z$/),
      reactions: [{ campaignId: 'spring', name: 'thank', outcome: 'failed', reason: 'type' }],
    });
    expect(await theReviewEntry(client)).toMatchObject({
      severity: 'error',
      stage: 'processing',
      reason: 'validation_failed',
      eventId: id,
      status: 'open',
      source: 'shop.orders',
      eventType: 'purchase',
      message: 'A value does not fit.',
      payload: null,
    });
  });

  it('says while it waits for another attempt how many there were, and what went wrong', async () => {
    const client = await aClient(service);
    const id = await sent(client, { attributes: { breaks: 'throw' } });
    await until(async () => (await shown(client, id)).processing.attempts > 0);
    expect((await shown(client, id)).processing).toMatchObject({
      state: 'queued',
      processedAt: null,
      lastError: expect.stringMatching(/^internal: /),
      reactions: [],
    });
  });
});

describe('GET /v1/events?state=', () => {
  it('finds the events that are queued, processed or failed, alone or beside another filter', async () => {
    const client = await aClient(service);
    const processed = await sent(client);
    const { id: failed, event } = await aFailedEvent(client);
    const queued = await sent(client, { attributes: { breaks: 'throw' }, type: 'visit' });
    await inState(client, processed, 'processed');
    const found = async (query: string) =>
      (await client.get(`/v1/events?${query}`)).body.items.map(({ eventId }: { eventId: string }) => eventId);
    expect(await found('state=processed')).toEqual([processed]);
    expect(await found('state=failed')).toEqual([failed]);
    expect(await found('state=queued')).toEqual([queued]);
    expect(await found('state=queued&eventType=purchase')).toEqual([]);
    const named = `source=${String(event['source'])}&externalEventId=${String(event['external_event_id'])}`;
    expect([await found(`${named}&state=failed`), await found(`${named}&state=queued`)]).toEqual([[failed], []]);
    expectProblem(await client.get('/v1/events?state=gone'), 422, 'validation_failed', ['state enum']);
  });
});

describe('GET /v1/processing/summary', () => {
  it('counts what waits, what was done in the last minute, and what failed, of the workspace alone', async () => {
    const [client, stranger] = [await aClient(service), await aClient(service)];
    const none = { queued: 0, oldestQueuedAt: null, processedLastMinute: 0, failed: 0 };
    expect((await client.get(SUMMARY)).body).toEqual(none);
    await inState(client, await sent(client), 'processed');
    await aFailedEvent(client);
    const waiting = await sent(client, { attributes: { breaks: 'throw' } });
    await until(async () => (await shown(client, waiting)).processing.attempts > 0);
    const { body } = await client.get(SUMMARY);
    expect(body).toEqual({ queued: 1, oldestQueuedAt: expect.stringMatching(/Z$/), processedLastMinute: 1, failed: 1 });
    expect(Math.abs(Date.parse(body.oldestQueuedAt) - Date.now())).toBeLessThan(60_000);
    expect((await stranger.get(SUMMARY)).body).toEqual(none);
  });
});

describe('POST /v1/review-entries/{id}:replay of an event that could not be processed', () => {
  const replay = (client: Client, entry: { id: string }, body: object = {}) =>
    client.post(`/v1/review-entries/${entry.id}:replay`, body);

  it('processes it, and closes the entry with it', async () => {
    const client = await aClient(service);
    const { id, mend: repair } = await aFailedEvent(client);
    await repair();
    const answer = await replay(client, await theReviewEntry(client));
    expect([answer.status, answer.body.outcome]).toEqual([200, { status: 'processed', event_id: id }]);
    expect(answer.body.reviewEntry).toMatchObject({
      status: 'replayed',
      eventId: id,
      resolution: { action: 'replayed', outcome: 'processed', eventId: id },
    });
    expect((await shown(client, id)).processing).toMatchObject({ state: 'processed', attempts: 2, lastError: null });
    expect((await client.get(SUMMARY)).body).toMatchObject({ failed: 0, processedLastMinute: 1 });
  });

  it('does nothing more once it is processed, however often and however many ask at once', async () => {
    const client = await aClient(service);
    const { id, mend: repair } = await aFailedEvent(client);
    await repair();
    const before = await timesApplied(id);
    const entry = await theReviewEntry(client);
    const answers = await Promise.all(Array.from({ length: 8 }, () => replay(client, entry)));
    const outcomes = answers.map(({ body }) => body.outcome?.status ?? body.error_code);
    // Who comes later is told that it is processed, or that the entry is closed.
    const [first, ...others] = outcomes.sort((a, b) => Number(b === 'processed') - Number(a === 'processed'));
    expect(first).toBe('processed');
    for (const outcome of others) expect(['duplicate', 'entry_not_open']).toContain(outcome);
    expect(await timesApplied(id)).toBe(before + 1);
    expect((await shown(client, id)).processing).toMatchObject({ state: 'processed', attempts: 2 });
  });

  it('leaves the entry open when it fails again, and counts the attempt', async () => {
    const client = await aClient(service);
    const { id } = await aFailedEvent(client);
    const answer = await replay(client, await theReviewEntry(client));
    expect([answer.status, answer.body.outcome]).toEqual([
      200,
      {
        status: 'failed',
        event_id: id,
        error_code: 'validation_failed',
        message: 'A value does not fit.',
        details: [],
      },
    ]);
    expect(answer.body.reviewEntry).toMatchObject({
      status: 'open',
      occurrences: 2,
      resolution: { action: 'replayed', outcome: 'failed' },
    });
    expect((await shown(client, id)).processing).toMatchObject({ state: 'failed', attempts: 2 });
  });

  it('takes no payload: the event is stored', async () => {
    const client = await aClient(service);
    const { event } = await aFailedEvent(client);
    const entry = await theReviewEntry(client);
    expectProblem(await replay(client, entry, { payload: event }), 422, 'validation_failed', [
      'payload not_replayable',
    ]);
    expect(await theReviewEntry(client)).toEqual(entry);
  });

  it('is refused to a key that may not send the source', async () => {
    const workspace = await aWorkspace(service);
    await aFailedEvent(workspace.admin);
    const other = await workspace.client({ sources: ['other'] });
    expectProblem(await replay(other, await theReviewEntry(workspace.admin)), 403, 'source_not_allowed');
  });

  it('leaves nothing failed of the event of an erased person', async () => {
    const client = await aClient(service);
    const { id } = await aFailedEvent(client, { identity: { type: 'EXTERNAL', value: `jane-${randomUUID()}` } });
    const { profileId } = await shown(client, id);
    expect((await client.post(`/v1/cdp/profiles/${profileId}:erase`, {})).status).toBe(200);
    const answer = await replay(client, await theReviewEntry(client));
    expect([answer.status, answer.body.outcome]).toEqual([200, { status: 'processed', event_id: id }]);
    expect((await shown(client, id)).processing).toMatchObject({
      state: 'processed',
      lastError: null,
      reactions: [{ outcome: 'skipped', reason: 'profile_erased' }],
    });
    expect((await client.get(SUMMARY)).body).toMatchObject({ failed: 0 });
  });

  it('is not made needless by the same event coming in again', async () => {
    const client = await aClient(service);
    const { event } = await aFailedEvent(client);
    expect((await client.post(EVENTS, event)).status).toBe(200);
    expect(await theReviewEntry(client)).toMatchObject({ status: 'open', occurrences: 1 });
  });

  it('happens in bulk too', async () => {
    const client = await aClient(service);
    const mended = await aFailedEvent(client);
    const broken = await aFailedEvent(client);
    await mended.mend();
    const jobId = await beginReplay(client, {});
    expect(await replayOnce(() => client, jobId)).toMatchObject({ total: 2, accepted: 1, duplicate: 0, failed: 1 });
    expect((await shown(client, mended.id)).processing.state).toBe('processed');
    expect((await shown(client, broken.id)).processing).toMatchObject({ state: 'failed', attempts: 2 });
  });
});

describe('two bulk replays of the same entries at the same time', () => {
  it('add up: each counts each entry once, and an event counts as accepted in one of them', async () => {
    const client = await aClient(service);
    const failed = await Promise.all(Array.from({ length: 12 }, () => aFailedEvent(client)));
    const mended = failed.slice(0, 9);
    for (const { mend } of mended) await mend();
    await sendTooEarly(client, 150);
    await sendTooEarly(client, 20, { properties: {} });
    await registerTypes(client, [PURCHASE]);
    const jobIds = await Promise.all([beginReplay(client, {}), beginReplay(client, {})]);
    const replays = await Promise.all(jobIds.map((jobId) => replayOnce(() => client, jobId)));
    for (const { state, total, done, accepted, duplicate, failed: refused } of replays) {
      const counts: number[] = [accepted, duplicate, refused];
      expect([state, total, done, sumOf(counts)]).toEqual(['done', 182, 182, 182]);
      expect(refused).toBe(3 + 20);
    }
    expect(sumOf(replays.map(({ accepted }): number => accepted))).toBe(mended.length + 150);
    for (const { id } of mended) expect((await shown(client, id)).processing.state).toBe('processed');
  });
});

describe('what is kept of how events were processed', () => {
  it('names nobody: an erased person is not in it', async () => {
    const client = await aClient(service);
    const mark = `jane-${randomUUID()}`;
    const { id } = await aFailedEvent(client, {
      identity: { type: 'EXTERNAL', value: mark },
      attributes: { breaks: 'never-fits', note: mark },
    });
    await sent(client, { identity: { type: 'EXTERNAL', value: mark }, attributes: { breaks: 'throw', note: mark } });
    const { profileId } = await shown(client, id);
    expect((await client.post(`/v1/cdp/profiles/${profileId}:erase`, {})).status).toBe(200);
    const kept = await rowsOf(
      service.databaseUrl,
      `SELECT p::text FROM event_processing p UNION ALL SELECT p::text FROM parked_events p
       UNION ALL SELECT r::text FROM review_entries r UNION ALL SELECT j::text FROM cds_jobs.jobs j`,
    );
    expect(JSON.stringify(kept)).not.toContain(mark);
    expect(effect.attempts.get(id)).toBe(1);
  });
});
