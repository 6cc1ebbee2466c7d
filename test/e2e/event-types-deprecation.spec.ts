import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { Clock } from '../../src/platform/values/clock';
import { startApp, type TestApp } from '../support/app';
import { aCdpEvent, PURCHASE } from '../support/builders';
import { aWorkspace, Client, expectProblem, reviewEntries, type Answer, type Workspace } from '../support/client';
import { withClient } from '../support/database';

const PATH = '/v1/cdp/event-types';
const DAY_MS = 24 * 60 * 60 * 1000;
/** On every node (contract section 4). */
const IN_FORCE_MS_MAX = 1_000;

let service: TestApp;
let other: TestApp;
let workspace: Workspace;
let client: Client;
let there: Client;
let aheadMs = 0;

beforeAll(async () => {
  service = await startApp();
  other = await startApp();
  // The wall clock of both nodes can be put forward.
  for (const { app } of [service, other]) {
    const clock = app.get(Clock);
    const now = clock.now.bind(clock);
    clock.now = () => new Date(now().getTime() + aheadMs);
  }
});

beforeEach(async () => {
  aheadMs = 0;
  workspace = await aWorkspace(service);
  client = workspace.admin;
  there = new Client(other.url, client.key);
  await client.post(PATH, PURCHASE);
});

afterAll(() => Promise.all([service.stop(), other.stop()]));

const deprecate = (by = client): Promise<Answer> => by.send(`${PATH}/purchase:deprecate`, undefined);
const send = (fields: object = {}, by = client): Promise<Answer> => by.post('/v1/cdp/events', aCdpEvent({ ...fields }));
const warnings = (by = client): Promise<any[]> => reviewEntries(by, '&reason=event_type_deprecated');

describe('POST /v1/cdp/event-types/{eventType}:deprecate', () => {
  it('answers with the type as it is shown from then on', async () => {
    const { body: version } = await client.post(PATH, PURCHASE);
    const { status, body } = await deprecate();
    const deprecatedAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect([status, body]).toEqual([200, { eventType: 'purchase', deprecatedAt, versions: [version] }]);
    expect((await client.get(`${PATH}/purchase`)).body).toEqual(body);
    expect((await client.get(PATH)).body.items).toEqual([{ ...version, deprecatedAt: body.deprecatedAt }]);
  });

  it('changes nothing when it is done again, by any number of callers at the same moment', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => deprecate(n % 2 === 0 ? client : there)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const { deprecatedAt } = (await client.get(`${PATH}/purchase`)).body;
    expect(new Set(answers.map(({ body }) => body.deprecatedAt))).toEqual(new Set([deprecatedAt]));
    aheadMs = DAY_MS;
    expect((await deprecate()).body.deprecatedAt).toBe(deprecatedAt);
  });

  it('takes an empty object for a body, and nothing else', async () => {
    expect((await client.post(`${PATH}/purchase:deprecate`, {})).status).toBe(200);
    const odd = await client.post(`${PATH}/purchase:deprecate`, { at: 'once' });
    expectProblem(odd, 422, 'validation_failed', ['at unknown_field']);
  });

  it('does not find what is not registered here', async () => {
    const stranger = await aWorkspace(service);
    expectProblem(await deprecate(stranger.admin), 404, 'not_found');
    expectProblem(await client.send(`${PATH}/other:deprecate`, undefined), 404, 'not_found');
    expectProblem(await client.send(`${PATH}/-a:deprecate`, undefined), 422, 'validation_failed', ['eventType format']);
    expect((await client.get(`${PATH}/purchase`)).body.deprecatedAt).toBeNull();
    expect((await stranger.admin.get(PATH)).body.items).toEqual([]);
  });

  it('outlasts new versions of the type', async () => {
    const { deprecatedAt } = (await deprecate()).body;
    expect((await client.post(PATH, { ...PURCHASE, description: 'Changed' })).status).toBe(201);
    expect((await client.post(PATH, { ...PURCHASE, properties: {}, force: true })).status).toBe(201);
    expect((await client.get(`${PATH}/purchase`)).body).toMatchObject({
      deprecatedAt,
      versions: [{ version: 3 }, {}, {}],
    });
    await send({ properties: {} });
    expect(await warnings()).toHaveLength(1);
  });
});

describe('an event of a deprecated type', () => {
  it('is accepted, and the first of the day leaves a warning that is readable at once', async () => {
    expect((await send()).status).toBe(202);
    expect(await warnings()).toEqual([]);
    await deprecate();
    const event = aCdpEvent({ properties: { amount: 1, nickname: 'Zacharias' } });
    const { status, body } = await client.post('/v1/cdp/events', event);
    expect(status).toBe(202);
    const [entry, ...others] = await reviewEntries(client);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      severity: 'warning',
      stage: 'contract',
      reason: 'event_type_deprecated',
      family: 'cdp',
      occurrences: 1,
      source: event['source'],
      externalEventId: event['externalEventId'],
      eventType: 'purchase',
      eventId: body.event_id,
      status: 'open',
      details: [],
    });
    expect(JSON.stringify(entry)).not.toContain('Zacharias');
  });

  it.each([
    ['accepted ones', {}],
    ['ones with other warnings', { occurredAt: '9999-01-01T00:00:00Z' }],
  ])('leaves one warning a day, whatever comes on any node at the same moment: %s', async (_kind, fields) => {
    await deprecate();
    const batch = (by: Client): Promise<Answer> =>
      by.post('/v1/cdp/events/batch', { items: Array.from({ length: 50 }, () => aCdpEvent({ ...fields })) });
    const singles = Array.from({ length: 20 }, (_, n) => send(fields, n % 2 === 0 ? client : there));
    const answers = await Promise.all([...singles, batch(client), batch(there)]);
    expect(answers.map(({ status }) => status)).toEqual([...Array<number>(20).fill(202), 200, 200]);
    const statuses = answers.flatMap(({ body }) => body.results ?? []).map(({ status }) => status);
    expect(statuses).toEqual(Array(100).fill('accepted'));
    await send(fields);
    await send(fields, there);
    expect((await warnings()).map(({ occurrences }) => occurrences)).toEqual([1]);
  });

  it('leaves another warning on another day, and of another type', async () => {
    await client.post(PATH, { ...PURCHASE, eventType: 'refund' });
    await client.send(`${PATH}/refund:deprecate`, undefined);
    await deprecate();
    for (const day of [0, 1, 2]) {
      aheadMs = day * DAY_MS;
      for (const by of [client, there]) await send({}, by);
      expect(await warnings()).toHaveLength(day + 1);
    }
    await send({ eventType: 'refund' });
    expect((await warnings()).map(({ eventType, occurrences }) => `${eventType} ${occurrences}`).sort()).toEqual([
      ...['purchase 1', 'purchase 1', 'purchase 1', 'refund 1'],
    ]);
  });

  it('does not open a warning that was closed on the same day', async () => {
    await deprecate();
    await send();
    await withClient(service.databaseUrl, (database) =>
      database.query("UPDATE review_entries SET status = 'dismissed' WHERE tenant_id = $1", [workspace.tenantId]),
    );
    await send();
    await send({}, there);
    expect((await warnings()).map(({ status }) => status)).toEqual(['dismissed']);
  });

  it('leaves none when it is refused, repeated, tried out, or somebody else’s', async () => {
    const event = aCdpEvent();
    await client.post('/v1/cdp/events', event);
    await deprecate();
    expect((await client.post('/v1/cdp/events', event)).status).toBe(200);
    expect((await send({ properties: {} })).status).toBe(422);
    expect((await client.post('/v1/cdp/events?dry_run=true', aCdpEvent())).status).toBe(202);
    const stranger = (await aWorkspace(service)).admin;
    await stranger.post(PATH, PURCHASE);
    expect((await send({}, stranger)).status).toBe(202);
    expect([await warnings(), await warnings(stranger)]).toEqual([[], []]);
    // Nor has any of them kept the first one from leaving it.
    await send();
    expect(await warnings()).toHaveLength(1);
  });

  it('leaves it on every other node within a second of the deprecation', async () => {
    // The other node has seen the registration by now, and remembers the type as it was: only the deprecation is news.
    await wait(IN_FORCE_MS_MAX);
    expect((await send({}, there)).status).toBe(202);
    const { status } = await deprecate();
    expect(status).toBe(200);
    const startedAt = performance.now();
    for (let lastMs = 0; ;) {
      const askedMs = performance.now() - startedAt;
      await send({}, there);
      if ((await warnings()).length > 0 || askedMs > 10 * IN_FORCE_MS_MAX) {
        const words = `the deprecation was last not in force on the other node after ${Math.round(lastMs)} ms`;
        expect([words, lastMs <= IN_FORCE_MS_MAX]).toEqual([words, true]);
        return;
      }
      lastMs = askedMs;
      await wait(10);
    }
  });
});
