import { join } from 'node:path';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { Client, expectProblem } from '../support/client';
import { freshDatabaseUrl } from '../support/database';
import { brokenHistories } from '../support/histories';
import { metricsOf } from '../support/metrics';
import { aCampaign, inc, mutate, stateOf, summary, type Campaign } from '../support/runtime';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';
import { until } from '../support/until';

const DAY_SECONDS = 24 * 60 * 60;
const AHEAD_SECONDS = 60 * DAY_SECONDS;
const SECRETS_KEY = 'a-secrets-key-for-the-wrong-clock-of-tests';
const POINTS = 'state.user.points';

describe('a node whose clock is 60 days ahead of the database', () => {
  let good: TestApp;
  let ahead: ServiceProcess;
  let campaign: Campaign;
  let backend: Client;
  let participant: Client;

  beforeAll(async () => {
    const url = await freshDatabaseUrl('wrong_clock');
    good = await startApp({ SECRETS_KEY }, url, [], { processesEvents: true });
    campaign = await aCampaign(good);
    await campaign.define(POINTS, 'number');
    const key = (await campaign.workspace.admin.post('/v1/api-keys', {
      name: 'for a day',
      scopes: ['admin'],
      expiresInDays: 1,
    })) as { body: { key: string } };
    participant = campaign.participant({ sub: 'ann' });
    expect(summary(await mutate(participant, [inc(POINTS)], { mutation_id: 'before' }))).toBe('200 applied');
    ahead = await startServiceProcess({
      DATABASE_URL: url,
      SECRETS_KEY,
      CLOCK_AHEAD_MS: String(AHEAD_SECONDS * 1_000),
      NODE_OPTIONS: `--require ${join(__dirname, '..', 'support', 'shifted-clock.cjs')}`,
    });
    backend = new Client(ahead.url, key.body.key);
  });
  afterEach(async () => expect(await brokenHistories(good.databaseUrl, campaign.workspace.tenantId)).toEqual([]));
  afterAll(async () => {
    await ahead.stop();
    await good.stop();
  });

  it('takes keys and tokens that are in force, and knows each mutation_id as all others do', async () => {
    const there = new Client(ahead.url, participant.key);
    const seen: string[] = [];
    for (const id of ['before', 'there', 'before', 'there']) {
      for (const client of [there, participant]) {
        seen.push(`${id} ${summary(await mutate(client, [inc(POINTS)], { mutation_id: id }))}`);
      }
    }
    const again = ['before 200 duplicate', 'before 200 duplicate', 'there 200 duplicate', 'there 200 duplicate'];
    expect(seen).toEqual([...again.slice(0, 2), 'there 200 applied', 'there 200 duplicate', ...again]);
    expect((await stateOf(participant)).user.points).toBe(2);
  });

  it('defines reactions that the next event meets on every node', async () => {
    const { campaignId } = campaign;
    await backend.post('/v1/external-events', anExternalEvent({ type: 'visit' }));
    const defined = await backend.post(`/v1/campaigns/${campaignId}/reactions:define`, {
      name: 'visits',
      eventType: 'visit',
      ops: [inc('state.user.points')],
    });
    expect(defined.status).toBe(200);
    const before = (await stateOf(participant)).user.points as number;
    const clients = [campaign.workspace.admin, backend];
    for (let event = 0; event < 20; event += 1) {
      const sent = await clients[event % 2]!.post(
        '/v1/external-events',
        anExternalEvent({ type: 'visit', identity: { type: 'EXTERNAL', value: 'ann' } }),
      );
      expect(sent.status).toBe(202);
    }
    await until(async () => (await backend.get('/v1/processing/summary')).body.queued === 0);
    expect((await stateOf(participant)).user.points).toBe(before + 20);
  });

  it('says so in its log, in /metrics, and to load balancers', async () => {
    const lines = ahead
      .output()
      .split('\n')
      .filter((line) => line.includes('The clock of this machine is off.'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`${AHEAD_SECONDS} seconds ahead of the database's`);
    const difference = (await metricsOf(ahead.url))['cds_clock_difference_seconds'];
    expect(Math.abs((difference ?? 0) - AHEAD_SECONDS)).toBeLessThan(10);
    const ready = await new Client(ahead.url, undefined).get('/health/ready');
    expectProblem(ready, 503, 'unavailable');
    expect(ready.body.message).toMatch(/clock of this machine .* Correct the wrong clock/);
    expect((await new Client(good.url, undefined).get('/health/ready')).status).toBe(200);
    expect(Math.abs((await metricsOf(good.url))['cds_clock_difference_seconds'] ?? NaN)).toBeLessThan(1);
  });
});
