import { randomUUID } from 'node:crypto';
import { sharedApp, type SharedApp } from '../support/app';
import { ALL_TIME } from '../support/backfills';
import { aWorkspace, type Client } from '../support/client';
import { rowsOf } from '../support/database';
import { aCampaign } from '../support/runtime';
import { until } from '../support/until';
import { aWebhook, startReplay, startReceiver, type Receiver } from '../support/webhooks';

const KEPT = 1_000;

let service: SharedApp;
let receiver: Receiver;

beforeAll(async () => {
  [service, receiver] = await Promise.all([sharedApp({ processesEvents: true }), startReceiver()]);
});
afterAll(() => receiver.stop());

/** A workspace of its own for work of one kind. */
interface Beginning {
  readonly tenantId: string;
  readonly client: Client;
  /** Returns where the work is shown. */
  readonly start: () => Promise<string>;
}

async function inReview(action: string, list: string): Promise<Beginning> {
  const { tenantId, admin: client } = await aWorkspace(service);
  const start = async () => {
    const { body } = await client.post(`/v1/review-entries:${action}`, { filter: {} });
    return `/v1/${list}/${body.jobId}`;
  };
  return { tenantId, client, start };
}

async function ofWebhook(): Promise<Beginning> {
  const { tenantId, admin: client } = await aWorkspace(service);
  const { id } = await aWebhook(client, receiver.url);
  return { tenantId, client, start: () => startReplay(client, id) };
}

async function ofReaction(): Promise<Beginning> {
  const campaign = await aCampaign(service);
  const { tenantId, admin: client } = campaign.workspace;
  await campaign.define('state.user.points', 'number');
  const reactions = `/v1/campaigns/${campaign.campaignId}/reactions`;
  const ops = [{ path: 'state.user.points', op: 'inc', value: 1 }];
  await client.post(`${reactions}:define`, { name: 'reward', eventType: 'purchase', ops });
  const start = async () => {
    const { body } = await client.post(`${reactions}/reward:backfill`, ALL_TIME);
    return `${reactions}/reward/backfills/${body.jobId}`;
  };
  return { tenantId, client, start };
}

it.each([
  ['bulk replays', 'review_replays', () => inReview('replay', 'review-replays')],
  ['bulk dismissals', 'review_dismissals', () => inReview('dismiss', 'review-dismissals')],
  ['replays to webhooks', 'webhook_replays', ofWebhook],
  ['backfills', 'reaction_backfills', ofReaction],
])('keeps the last 1,000 %s of a workspace, and those that are not over', async (_names, table, begin) => {
  const { tenantId, client, start } = await begin();
  const first = await start();
  await until(async () => (await client.get(first)).body.state === 'done');
  const idOf = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
  // Names of other columns change nothing.
  const copies = `
    INSERT INTO ${table} SELECT (jsonb_populate_record(w, c.fields)).*
    FROM ${table} w, jsonb_array_elements($2::jsonb) AS c (fields) WHERE w.tenant_id = $1`;
  const running = { state: 'running', endpoint_id: randomUUID(), name: 'other' };
  const numbers = Array.from({ length: KEPT }, (_, index) => index + 1);
  const changed = numbers.map((n) => ({ id: idOf(n), ...(n === 2 ? running : {}) }));
  await rowsOf(service.databaseUrl, copies, [tenantId, JSON.stringify(changed)]);
  const last = await start();
  expect((await client.get(last)).status).toBe(200);
  const rows = await rowsOf<{ id: string }>(
    service.databaseUrl,
    `SELECT id FROM ${table} WHERE tenant_id = $1 ORDER BY id`,
    [tenantId],
  );
  const ids = rows.map(({ id }) => id);
  expect(ids.slice(0, -2)).toEqual(numbers.slice(1).map(idOf));
  expect(ids.slice(-2)).toEqual([first, last].map((path) => path.split('/').at(-1)));
});
