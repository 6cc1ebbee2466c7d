import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { EventWorker } from '../../src/processing/event-worker';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent, INGEST_FAMILIES, type IngestFamily, registerTypes } from '../support/builders';
import { aClient, aWorkspace, Client, type Workspace } from '../support/client';
import { startFaultProxy } from '../support/fault-proxy';
import { databaseOf, freshDatabaseUrl, withClient } from '../support/database';
import { growth, metricsOf } from '../support/metrics';
import { untilDrained } from '../support/processing';
import { aCampaign, inc, mutate } from '../support/runtime';

type Numbers = Readonly<Record<string, number>>;

let service: TestApp;

beforeAll(async () => {
  service = await startApp({ BATCH_ITEMS_MAX: '10' });
});
afterAll(() => service.stop());

/** What `work` adds to the metrics that begin like this. */
async function added(start: string, work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await metricsOf(service.url);
  await work();
  return growth(before, await metricsOf(service.url), start);
}

const sum = (numbers: Numbers): number => Object.values(numbers).reduce((total, number) => total + number, 0);

describe.each(INGEST_FAMILIES)('the events of the $family family', (family: IngestFamily) => {
  const received = (count: number): Numbers => ({ [`cds_events_received_total{family="${family.family}"}`]: count });
  const outcome = (name: string, count: number): Numbers => ({
    [`cds_events_total{family="${family.family}",outcome="${name}"}`]: count,
  });
  const rejected = (code: string, count: number): Numbers => ({
    [`cds_events_rejected_total{family="${family.family}",code="${code}"}`]: count,
  });
  let client: Client;

  beforeAll(async () => {
    client = await aClient(service);
    await registerTypes(client);
  });

  it('are counted once each, and those received are the accepted, the duplicate and the rejected', async () => {
    const event = family.anEvent();
    const counted = await added('cds_events_', async () => {
      await client.post(family.path, event);
      await client.post(family.path, event);
      await client.post(family.path, family.anEvent({ source: 7 }));
      const items = [event, family.anEvent(), family.anEvent(), family.anEvent({ identity: {} }), 'nonsense'];
      expect((await client.post(family.batchPath, { items })).status).toBe(200);
    });
    expect(counted).toEqual({
      ...received(8),
      ...outcome('accepted', 3),
      ...outcome('duplicate', 2),
      ...outcome('rejected', 3),
      ...rejected('validation_failed', 3),
    });
  });

  it('add up after a hundred at once, in singles and batches, some of them twice', async () => {
    const events = Array.from({ length: 20 }, () => family.anEvent());
    const counted = await added('cds_events_total', async () => {
      const batches = [events.slice(0, 10), events.slice(5, 15), events.slice(10, 20)];
      await Promise.all([
        ...events.map((event) => client.post(family.path, event)),
        ...events.map((event) => client.post(family.path, { ...event, source: '' })),
        ...batches.map((items) => client.post(family.batchPath, { items })),
      ]);
    });
    expect(counted).toEqual({ ...outcome('accepted', 20), ...outcome('duplicate', 30), ...outcome('rejected', 20) });
  });

  it('count as rejected by requests that are refused as a whole, but not without a credential and not in dry runs', async () => {
    const narrow = await (await aWorkspace(service)).client({ scopes: ['events:read'] });
    const event = JSON.stringify(family.anEvent());
    const counted = await added('cds_events_', async () => {
      const answers = [
        await client.send(family.path, '{'),
        await client.send(family.batchPath, JSON.stringify({ items: [] })),
        await client.send(family.batchPath, JSON.stringify({ items: Array.from({ length: 11 }, () => ({})) })),
        await client.send(family.path, JSON.stringify({ much: 'x'.repeat(300_000) })),
        await client.send(family.path, event, { headers: { 'content-type': 'text/plain' } }),
        await narrow.send(family.path, event),
        await new Client(service.url, undefined).send(family.path, event),
        await new Client(service.url, 'nonsense').send(family.path, event),
        await client.send(`${family.path}?dry_run=true`, event),
        await client.send(`${family.path}?dry_run=true`, '{"source":1}'),
        await client.send(`${family.batchPath}?dry_run=true`, `{"items":[${event}]}`),
      ];
      expect(answers.map(({ status }) => status)).toEqual([400, 422, 422, 413, 415, 403, 401, 401, 202, 422, 200]);
    });
    expect(counted).toEqual({
      ...received(6),
      ...outcome('rejected', 6),
      ...rejected('malformed_json', 1),
      ...rejected('validation_failed', 1),
      ...rejected('batch_too_large', 1),
      ...rejected('payload_too_large', 1),
      ...rejected('unsupported_media_type', 1),
      ...rejected('insufficient_scope', 1),
    });
  });
});

describe('a batch that the database is too far away for', () => {
  it('counts as many rejected events as it has', async () => {
    const url = await freshDatabaseUrl('away');
    const proxy = await startFaultProxy(url);
    const node = await startApp({}, proxy.urlOf(databaseOf(url)));
    try {
      const { key } = (await aWorkspace({ url: node.url, databaseUrl: url })).admin;
      const [{ batchPath, anEvent }] = INGEST_FAMILIES;
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        expect: '100-continue',
      };
      const sending = request(`${node.url}${batchPath}`, { method: 'POST', headers });
      sending.flushHeaders();
      // The credential is known to be good by then.
      await once(sending, 'continue');
      proxy.setAway(true);
      sending.end(JSON.stringify({ items: [anEvent(), anEvent(), anEvent()] }));
      const [answer] = (await once(sending, 'response')) as [IncomingMessage];
      answer.resume();
      const numbers = await metricsOf(node.url);
      expect(answer.statusCode).toBe(503);
      expect(numbers['cds_events_received_total{family="external"}']).toBe(3);
      expect(numbers['cds_events_rejected_total{family="external",code="unavailable"}']).toBe(3);
      expect(numbers['cds_ready{reason="database_away"}']).toBe(0);
      expect(numbers['cds_ready{reason="ready"}']).toBeUndefined();
    } finally {
      proxy.setAway(false);
      await node.stop();
      await proxy.close();
    }
  });
});

describe('mutations', () => {
  it('are counted once each as applied, duplicate or refused; those without a good token are not', async () => {
    const campaign = await aCampaign(service);
    await campaign.define('state.user.points', 'number');
    const participant = campaign.participant();
    const counted = await added('cds_mutations_', async () => {
      const answers = [
        await mutate(participant, [inc('state.user.points')], { mutation_id: 'm1' }),
        await mutate(participant, [inc('state.user.points')], { mutation_id: 'm1' }),
        await mutate(participant, [inc('state.user.nothing')]),
        await mutate(participant, []),
        await participant.send('/v1/runtime/state:mutate', '{'),
        await mutate(new Client(service.url, undefined), []),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 422, 400, 401]);
    });
    expect(counted).toEqual({
      'cds_mutations_total{outcome="applied"}': 1,
      'cds_mutations_total{outcome="duplicate"}': 1,
      'cds_mutations_total{outcome="refused"}': 3,
      'cds_mutations_refused_total{code="undeclared_variable"}': 1,
      'cds_mutations_refused_total{code="validation_failed"}': 1,
      'cds_mutations_refused_total{code="malformed_json"}': 1,
    });
  });
});

describe('GET /metrics', () => {
  it('counts what the review area has kept, refusals and warnings, by reason', async () => {
    const client = await aClient(service);
    const [{ path, anEvent }] = INGEST_FAMILIES;
    const event = anEvent();
    const counted = await added('cds_review_problems_total', async () => {
      await client.post(path, event);
      await client.post(path, { ...event, type: 'another' });
      await client.post(path, anEvent({ source: undefined }));
      await client.post(path, anEvent({ occurred_at: '2099-01-01T00:00:00Z' }));
    });
    expect(counted).toEqual({
      'cds_review_problems_total{severity="warning",reason="payload_mismatch"}': 1,
      'cds_review_problems_total{severity="error",reason="required"}': 1,
      'cds_review_problems_total{severity="warning",reason="clock_skew"}': 1,
    });
  });

  it('times requests by the template of their route, and puts everything that has none under one name', async () => {
    const client = await aClient(service);
    const timed = await added('cds_http_request_duration_seconds_count', async () => {
      await client.get('/v1/events/00000000-0000-0000-0000-000000000000');
      await client.get('/v1/events/11111111-0000-0000-0000-000000000000');
      await client.get('/v1/events');
      for (const path of ['/v1', '/a', '/b', '/v1/events/x/y']) await client.get(path);
      await client.send('/v1/events', undefined, { method: 'PROPFIND' });
    });
    const count = (labels: string) => `cds_http_request_duration_seconds_count{${labels}}`;
    expect(timed).toEqual({
      [count('route="/v1/events/{eventId}",method="GET",status="4xx"')]: 2,
      [count('route="/v1/events",method="GET",status="2xx"')]: 1,
      [count('route="none",method="any",status="4xx"')]: 5,
      // The look before.
      [count('route="/metrics",method="GET",status="2xx"')]: 1,
    });
  });

  it('says of every lane how much waits, how large batches are and how long commits take', async () => {
    const [{ batchPath, anEvent }] = INGEST_FAMILIES;
    const client = await aClient(service);
    const worked = await added('cds_lane_', () => client.post(batchPath, { items: [anEvent(), anEvent()] }));
    expect(worked['cds_lane_batch_size_sum{lane="ingest"}']).toBe(2);
    expect(worked['cds_lane_commit_seconds_count{lane="ingest"}']).toBe(1);
    const numbers = await metricsOf(service.url);
    for (const lane of ['ingest', 'mutations', 'review']) {
      expect(numbers[`cds_lane_depth{lane="${lane}"}`]).toBe(0);
      expect(numbers[`cds_lane_waiting_bytes{lane="${lane}"}`]).toBe(0);
    }
  });

  it('tells of connections, jobs, readiness, the event loop and the process', async () => {
    const numbers = await metricsOf(service.url);
    for (const pool of ['requests', 'jobs']) {
      for (const state of ['in_use', 'idle', 'waiting']) {
        expect(numbers[`cds_database_connections{pool="${pool}",state="${state}"}`]).toBeGreaterThanOrEqual(0);
      }
    }
    expect(numbers['cds_ready{reason="ready"}']).toBe(1);
    expect(numbers['nodejs_eventloop_lag_p99_seconds']).toBeGreaterThan(0);
    expect(numbers['process_resident_memory_bytes']).toBeGreaterThan(0);
  });

  it('tells what waits to be processed and what was processed, of all workspaces; of one its summary does', async () => {
    const alone = await startApp({}, await freshDatabaseUrl('metrics_queue'));
    try {
      const [busy, idle] = [await aWorkspace(alone), await aWorkspace(alone)];
      for (let event = 0; event < 3; event += 1) await busy.admin.post('/v1/external-events', anExternalEvent());
      await idle.admin.post('/v1/external-events', anExternalEvent());
      const before = await metricsOf(alone.url);
      expect([before['cds_queue_events{state="waiting"}'], before['cds_queue_events{state="parked"}']]).toEqual([4, 0]);
      expect(before['cds_queue_oldest_seconds']).toBeGreaterThan(0);
      const summaryOf = async ({ admin }: Workspace) => (await admin.get('/v1/processing/summary')).body;
      const ofEach = await Promise.all([busy, idle].map(summaryOf));
      expect(ofEach.map(({ queued }) => queued)).toEqual([3, 1]);
      alone.app.get(EventWorker).start();
      for (const { tenantId } of [busy, idle]) await untilDrained(alone.databaseUrl, tenantId);
      const after = await metricsOf(alone.url);
      expect(after['cds_queue_events{state="waiting"}']).toBe(0);
      expect(after['cds_queue_oldest_seconds']).toBe(0);
      expect(after['cds_queue_processed_per_second']).toBeCloseTo(4 / 60);
      expect((await summaryOf(busy)).processedLastMinute).toBe(3);
    } finally {
      await alone.stop();
    }
  });

  it('tells what waited at the scrape before while the queue takes longer to count than a scrape waits', async () => {
    const alone = await startApp({}, await freshDatabaseUrl('metrics_long_queue'));
    try {
      await (await aWorkspace(alone)).admin.post('/v1/external-events', anExternalEvent());
      await metricsOf(alone.url);
      await withClient(alone.databaseUrl, async (holder) => {
        await holder.query('BEGIN');
        await holder.query('LOCK TABLE queued_bundles IN ACCESS EXCLUSIVE MODE');
        const numbers = await metricsOf(alone.url);
        expect(numbers['cds_queue_events{state="waiting"}']).toBe(1);
        expect(numbers['cds_queue_oldest_seconds']).toBeGreaterThan(0);
        await holder.query('ROLLBACK');
      });
    } finally {
      await alone.stop();
    }
  });

  it('has no label that a client chooses', async () => {
    const workspace = await aWorkspace(service);
    const [{ path, anEvent }] = INGEST_FAMILIES;
    await workspace.admin.post(path, anEvent({ source: 'a-source-of-mine', type: 'a-type-of-mine' }));
    await workspace.admin.post(path, anEvent({ 'a-field-of-mine': 1 }));
    const text = await (await fetch(`${service.url}/metrics`)).text();
    expect(text).not.toContain('of-mine');
    expect(text).toContain('cds_queue_events');
    expect(text).not.toContain(workspace.tenantId);
    expect(text).not.toContain('workspace=');
  });

  it('adds up, whatever has happened so far', async () => {
    const numbers = await metricsOf(service.url);
    for (const family of ['external', 'cdp']) {
      const of = (start: string) =>
        sum(
          Object.fromEntries(
            Object.entries(numbers).filter(([name]) => name.startsWith(`${start}{family="${family}"`)),
          ),
        );
      expect(of('cds_events_total')).toBe(of('cds_events_received_total'));
      expect(of('cds_events_rejected_total')).toBe(numbers[`cds_events_total{family="${family}",outcome="rejected"}`]);
    }
  });
});

it('however many ask for metrics at once, reads of others have connections', async () => {
  const own = await startApp({}, await freshDatabaseUrl('scrapes'));
  const { admin } = await aWorkspace(own);
  try {
    await withClient(own.databaseUrl, async (holder) => {
      await holder.query('BEGIN');
      // One number cannot be read meanwhile.
      await holder.query('LOCK TABLE event_retention IN ACCESS EXCLUSIVE MODE');
      const asked = Promise.all(Array.from({ length: 30 }, () => metricsOf(own.url)));
      const looks = Promise.all(Array.from({ length: 5 }, () => admin.get('/v1/api-keys')));
      expect((await looks).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      for (const numbers of await asked) expect(numbers).not.toHaveProperty('cds_retention_behind_seconds');
      await holder.query('ROLLBACK');
    });
  } finally {
    await own.stop();
  }
});
