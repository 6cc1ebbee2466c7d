import { type Purchase, readSample } from '../../src/demo/cdnow';
import { EVENT_TYPES_PATH, PURCHASE_EVENT_TYPE, purchaseEvent, subjectOf } from '../../src/demo/cdp-wire';
import { aCdpEvent } from '../support/builders';
import { Client } from '../support/client';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { brokenHistories } from '../support/histories';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';
import { until } from '../support/until';

/** `npm run test:faults` asks for more. */
const KILLS = Number(process.env['FAULT_WORKER_KILLS'] ?? 2);
const KEY = 'sample-reactions-admin-key-sample-reactions';
const CAMPAIGN = 'records';
const ITEMS = 500;
const LOGIN = 'login';

let url: string;

const start = (role: string): Promise<ServiceProcess> =>
  startServiceProcess({ DATABASE_URL: url, BOOTSTRAP_ADMIN_KEY: KEY, ROLE: role });

async function ok(client: Client, path: string, body: object): Promise<any> {
  const answer = await client.post(path, body);
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Every purchase adds its amount to what its customer has spent, and to what the campaign has earned. */
async function declareCampaign(client: Client): Promise<void> {
  await ok(client, EVENT_TYPES_PATH, PURCHASE_EVENT_TYPE);
  await ok(client, EVENT_TYPES_PATH, { eventType: LOGIN, properties: {} });
  for (const [scope, name] of [
    ['user', 'spent'],
    ['campaign', 'revenue'],
  ]) {
    await ok(client, `/v1/campaigns/${CAMPAIGN}/variables:define`, { scope, name, type: 'number' });
  }
  await ok(client, `/v1/campaigns/${CAMPAIGN}/reactions:define`, {
    name: 'count-purchases',
    eventType: 'purchase',
    ops: ['state.user.spent', 'state.campaign.revenue'].map((path) => ({
      path,
      op: 'inc',
      valueFrom: 'properties.amount',
    })),
  });
}

/** Every other customer buys before the first login. */
const isAnonymous = ({ customer }: Purchase): boolean => Number(customer) % 2 === 0;
const deviceOf = (purchase: Purchase): string => `device-of-${subjectOf(purchase)}`;

function sendSample(client: Client): Promise<void> {
  const events = readSample().map((purchase) => ({
    ...(purchaseEvent(purchase) as object),
    ...(isAnonymous(purchase) ? { identity: { deviceKey: deviceOf(purchase) } } : {}),
  }));
  return sendAll(client, events);
}

function sendLogins(client: Client): Promise<void> {
  const identities = new Map(
    readSample()
      .filter(isAnonymous)
      .map((each) => [subjectOf(each), { externalUserId: subjectOf(each), deviceKey: deviceOf(each) }]),
  );
  const logins = [...identities.values()].map((identity) => aCdpEvent({ eventType: LOGIN, identity, properties: {} }));
  return sendAll(client, logins);
}

async function sendAll(client: Client, events: readonly object[]): Promise<void> {
  for (let from = 0; from < events.length; from += ITEMS) {
    const { results } = await ok(client, '/v1/cdp/events/batch', { items: events.slice(from, from + ITEMS) });
    expect(results.every(({ status }: { status: string }) => status === 'accepted')).toBe(true);
  }
}

/** What each customer of the sample has spent, by participant; in cents they are exact. */
function spentByCustomer(): Record<string, number> {
  const cents = new Map<string, number>();
  for (const each of readSample()) {
    const subject = `cdnow-${each.customer}`;
    cents.set(subject, (cents.get(subject) ?? 0) + each.cents);
  }
  return Object.fromEntries([...cents].map(([subject, sum]) => [subject, sum / 100]));
}

async function processed(): Promise<number> {
  const [row] = await rowsOf<{ n: number }>(url, 'SELECT count(*)::int AS n FROM event_processing');
  return row?.n ?? 0;
}

it(`${KILLS} kill -9 of two workers leave the revenue of the CDNOW sample exact to the cent, and what each customer spent`, async () => {
  url = await freshDatabaseUrl('sample_reactions');
  const api = await start('api');
  const client = new Client(api.url, KEY);
  await declareCampaign(client);
  await sendSample(client);
  const total = readSample().length;
  const workers = await Promise.all([start('worker'), start('worker')]);
  const summaryOf = async (): Promise<any> => (await client.get('/v1/processing/summary')).body;
  let interrupted = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = await processed();
    // On a busy machine everything may be processed by now, the logins too.
    await until(async () => (await processed()) > before || (await summaryOf()).queued === 0);
    await workers.shift()?.kill();
    if ((await processed()) < total) interrupted += 1;
    // The customers are linked while their purchases are processed, and the next kill comes while these are made up for.
    if (kill === 0) await sendLogins(client);
    workers.push(await start('worker'));
  }
  await until(async () => (await summaryOf()).queued === 0, 60);
  expect(await summaryOf()).toMatchObject({ queued: 0, oldestQueuedAt: null, failed: 0 });
  expect(interrupted).toBeGreaterThan(0);

  const { state } = (await client.get(`/v1/campaigns/${CAMPAIGN}/participants/cdnow-0001/state`)).body;
  const spent = spentByCustomer();
  expect(state).toMatchObject({ user: { spent: spent['cdnow-0001'] }, campaign: { revenue: 244_091.94 } });
  const stored = await rowsOf<{ subject: string; spent: number }>(
    url,
    `SELECT subject, (values ->> 'spent')::float8 AS spent FROM participant_states
     WHERE campaign_id = $1 AND values ? 'spent'`,
    [CAMPAIGN],
  );
  expect(Object.fromEntries(stored.map((row) => [row.subject, row.spent]))).toEqual(spent);
  const tenants = await rowsOf<{ id: string }>(url, 'SELECT DISTINCT tenant_id AS id FROM shared_values');
  expect(tenants).toHaveLength(1);
  for (const { id } of tenants) expect(await brokenHistories(url, id)).toEqual([]);
  for (const each of [api, ...workers]) expect(await each.stop()).toBe(0);
}, 300_000);
