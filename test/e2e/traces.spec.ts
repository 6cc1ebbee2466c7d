import { Tracing } from '../../src/platform/observability/tracing';
import { EventWorker } from '../../src/processing/event-worker';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aClient, type Answer, type Client } from '../support/client';
import { untilDrained } from '../support/processing';
import { aCampaign, inc, mutate } from '../support/runtime';
import { startTraceCollector, type SentSpan, type TraceCollector } from '../support/trace-collector';

const SERVER = 2;
const CONSUMER = 5;
const FAILED = 2;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER_SPAN = '00f067aa0ba902b7';

let collector: TraceCollector;
let service: TestApp;
let client: Client;

beforeEach(async () => {
  collector = await startTraceCollector();
  service = await startApp({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.endpoint}/` });
  client = await aClient(service);
});
afterEach(() => collector.stub.stop());

/** Everything that the service has to send; it stops for that. */
async function sent(): Promise<readonly SentSpan[]> {
  await service.stop();
  return collector.spans;
}

const named = (spans: readonly SentSpan[], name: string) => spans.filter((span) => span.name === name);

function traced(path: string, body: unknown, traceparent: string): Promise<Answer> {
  return client.send(path, JSON.stringify(body), { headers: { traceparent } });
}

describe('traces', () => {
  it('have a span a request, in the trace of the caller, with route and status, and no identity or property', async () => {
    const event = anExternalEvent({ identity: { type: 'EMAIL', value: 'jane.roe@example.com' } });
    const { headers } = await traced('/v1/external-events', event, `00-${TRACE}-${CALLER_SPAN}-01`);
    await client.get('/v1/events/jane.roe@example.com');
    for (const probed of ['/health/live', '/health/ready?verbose', '/metrics']) await client.get(probed);
    const spans = await sent();
    expect(spans.filter(({ name }) => /health|metrics/.test(name))).toEqual([]);
    expect(named(spans, 'POST /v1/external-events')).toEqual([
      {
        name: 'POST /v1/external-events',
        traceId: TRACE,
        spanId: expect.any(String),
        parentSpanId: CALLER_SPAN,
        kind: SERVER,
        status: 0,
        links: [],
        service: 'campaign-data-service',
        attributes: {
          'http.request.method': 'POST',
          'http.route': '/v1/external-events',
          'http.response.status_code': 202,
          'cds.request_id': headers.get('x-request-id'),
        },
      },
    ]);
    const [read] = named(spans, 'GET /v1/events/{eventId}');
    expect(read).toMatchObject({ status: 0, attributes: { 'http.response.status_code': 404 } });
    expect(read?.traceId).not.toBe(TRACE);
    expect(JSON.stringify(spans)).not.toMatch(/jane|29\.33/);
  });

  it('link the commit of a batch to every request that it answers, once each', async () => {
    const events = Array.from({ length: 30 }, () => client.post('/v1/external-events', anExternalEvent()));
    const items = [anExternalEvent(), anExternalEvent(), anExternalEvent()];
    await Promise.all([...events, client.post('/v1/external-events:batch', { items })]);
    const spans = await sent();
    const requests = [...named(spans, 'POST /v1/external-events'), ...named(spans, 'POST /v1/external-events:batch')];
    const commits = named(spans, 'commit ingest');
    expect(requests).toHaveLength(31);
    expect(commits.length).toBeGreaterThan(0);
    expect(commits.reduce((sum, { attributes }) => sum + Number(attributes['cds.batch.size']), 0)).toBe(33);
    const linked = commits.flatMap(({ links }) => links.map(({ traceId, spanId }) => `${traceId} ${spanId}`));
    expect(new Set(linked)).toEqual(new Set(requests.map(({ traceId, spanId }) => `${traceId} ${spanId}`)));
  });

  it('link the commit of mutations to their requests', async () => {
    const campaign = await aCampaign(service);
    await campaign.define('state.user.points', 'number');
    await mutate(campaign.participant(), [inc('state.user.points')]);
    const spans = await sent();
    const [request] = named(spans, 'POST /v1/runtime/state:mutate');
    expect(named(spans, 'commit mutations')).toMatchObject([{ links: [{ spanId: request?.spanId }] }]);
  });

  it('link the processing of an event to the commit that stored it, as long as the same process has done that', async () => {
    const { body } = await client.post('/v1/external-events', anExternalEvent());
    const tracing = service.app.get(Tracing);
    await tracing.process('process events', [body.event_id], () => Promise.resolve());
    await tracing.process('process events', ['of another process'], () => Promise.resolve());
    const failing = tracing.process('process failing', [body.event_id], () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    const spans = await sent();
    const [commit] = named(spans, 'commit ingest');
    expect(named(spans, 'process events')).toMatchObject([
      { kind: CONSUMER, links: [{ traceId: commit?.traceId, spanId: commit?.spanId }] },
    ]);
    expect(named(spans, 'process failing')).toMatchObject([{ status: FAILED }]);
  });

  it('link the turn of the worker that carries out a reaction to the commit of its event', async () => {
    const campaign = await aCampaign(service);
    await campaign.define('state.campaign.revenue', 'number');
    const { admin, tenantId } = campaign.workspace;
    const ops = [{ path: 'state.campaign.revenue', op: 'inc', value: 1 }];
    const reaction = { name: 'count', eventType: anExternalEvent()['type'], ops };
    expect((await admin.post(`/v1/campaigns/${campaign.campaignId}/reactions:define`, reaction)).status).toBe(200);
    service.app.get(EventWorker).start();
    expect((await admin.post('/v1/external-events', anExternalEvent())).status).toBe(202);
    await untilDrained(service.databaseUrl, tenantId);
    const spans = await sent();
    const [commit] = named(spans, 'commit ingest');
    expect(named(spans, 'process events')).toMatchObject([
      { kind: CONSUMER, links: [{ traceId: commit?.traceId, spanId: commit?.spanId }] },
    ]);
  });

  it('leave out what the caller has sampled out', async () => {
    await traced('/v1/external-events', anExternalEvent(), `00-${TRACE}-${CALLER_SPAN}-00`);
    expect(await sent()).toEqual([]);
  });

  it('are lost, and nothing else is, when nobody takes them', async () => {
    collector.stub.answer((_request, response) => void response.writeHead(500).end());
    expect((await client.post('/v1/external-events', anExternalEvent())).status).toBe(202);
    const startedAt = performance.now();
    await service.stop();
    expect(performance.now() - startedAt).toBeLessThan(8_000);
  });
});
