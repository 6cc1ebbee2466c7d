import type { Purchase } from '../../src/demo/cdnow';
import { EVENT_TYPES_PATH, PURCHASE_EVENT_TYPE, purchaseEvent, subjectOf } from '../../src/demo/cdp-wire';
import { backfill, backfillOnce, readBackfill, startBackfill } from './backfills';
import { aWorkspace, type Client, type Workspace } from './client';
import { freshDatabaseUrl, rowsOf } from './database';
import { brokenHistories } from './histories';
import { untilDrained } from './processing';
import { startServiceProcess, type ServiceProcess } from './service-process';
import { until } from './until';

const CAMPAIGN = 'records';
const POINTS = 'count-points';
const REVENUE = 'count-revenue';
const ITEMS = 250;
/** One purchase in so many is sent while the backfills run. */
const LIVE_SHARE = 5;

/** What a backfill says when it is over. */
type Finished = Readonly<Record<string, unknown>> & { readonly startedAt: string; readonly finishedAt: string };

export interface BackfillRound {
  readonly purchases: readonly Purchase[];
  /** How often the workers are killed, and started again, while the backfills run. */
  readonly kills: number;
  /** Patience with each part of the round. */
  readonly seconds: number;
}

export interface BackfillReport {
  readonly purchases: number;
  readonly customers: number;
  /** Received before the reactions were defined, and beside the backfills. */
  readonly before: number;
  readonly live: number;
  /** Of both reactions, the first time and the second one. */
  readonly first: readonly Finished[];
  readonly again: readonly Finished[];
  /** The values of the workspace whose reactions were there from the start, and of the other one. */
  readonly fromStart: Readonly<Record<string, unknown>>;
  readonly afterwards: Readonly<Record<string, unknown>>;
  /** What the file adds up to, in the form of these values. */
  readonly expected: Readonly<Record<string, unknown>>;
  /** Of both workspaces; empty: none. */
  readonly brokenHistories: readonly string[];
  /** The causes of what was added in the workspace with backfills; a value that a live event has set is not set again. */
  readonly causes: Readonly<Record<string, number>>;
}

/**
 * Sends purchases to two workspaces. One has its reactions from the start; the other one gets them afterwards, by
 * backfills whose workers are killed while the last purchases arrive.
 */
export async function backfillRound({ purchases, kills, seconds }: BackfillRound): Promise<BackfillReport> {
  const url = await freshDatabaseUrl('backfill');
  const environment = { DATABASE_URL: url };
  const startWorkers = () => Promise.all([1, 2].map(() => startServiceProcess({ ...environment, ROLE: 'worker' })));
  const api = await startServiceProcess({ ...environment, ROLE: 'api' });
  const processes: ServiceProcess[] = [api];
  try {
    const service = { url: api.url, databaseUrl: url };
    const [fromStart, afterwards] = [await aWorkspace(service), await aWorkspace(service)];
    const isLive = (index: number): boolean => index % LIVE_SHARE === 0;
    const before = purchases.filter((_each, index) => !isLive(index));
    // Customers come in order in the file: they have purchases of both kinds.
    const live = purchases.filter((_each, index) => isLive(index));
    for (const { admin } of [fromStart, afterwards]) await ok(admin, EVENT_TYPES_PATH, PURCHASE_EVENT_TYPE);
    await declareCampaign(fromStart.admin);
    for (const { admin } of [fromStart, afterwards]) await send(admin, before);
    await declareCampaign(afterwards.admin);

    const client = afterwards.admin;
    const reactions = [POINTS, REVENUE];
    const jobs = await Promise.all(reactions.map((name) => startBackfill(client, CAMPAIGN, name)));
    const progress = () =>
      Promise.all(reactions.map((name, index) => readBackfill(client, CAMPAIGN, name, jobs[index] ?? '')));
    let workers = await startWorkers();
    processes.push(...workers);
    const sending = send(client, live);
    for (let kill = 1; kill <= kills; kill += 1) {
      const enough = Math.min((before.length * kill) / (kills + 1), before.length - 1);
      await until(async () => (await progress()).some(({ scanned }) => scanned >= enough), seconds);
      await Promise.all(workers.map((worker) => worker.kill()));
      if (!(await progress()).some(({ state }) => state === 'running')) throw new Error('The kill came too late');
      workers = await startWorkers();
      processes.push(...workers);
    }
    await sending;
    const over = (name: string, index: number): Promise<Finished> =>
      backfillOnce(() => client, CAMPAIGN, name, jobs[index] ?? '', seconds);
    const first = await Promise.all(reactions.map(over));
    await send(fromStart.admin, live);
    for (const { tenantId } of [fromStart, afterwards]) await untilDrained(url, tenantId, seconds);
    const once = await valuesOf(url, afterwards);
    const again: Finished[] = [];
    for (const name of reactions) again.push(await backfill(client, CAMPAIGN, name, {}, seconds));
    const values = await valuesOf(url, afterwards);
    if (JSON.stringify(values) !== JSON.stringify(once)) throw new Error('The second backfill changed values');
    const broken = [fromStart, afterwards].map(({ tenantId }) => brokenHistories(url, tenantId));
    return {
      purchases: purchases.length,
      customers: new Set(purchases.map(subjectOf)).size,
      before: before.length,
      live: live.length,
      first,
      again,
      fromStart: await valuesOf(url, fromStart),
      afterwards: values,
      expected: expectedOf([...before, ...live]),
      brokenHistories: (await Promise.all(broken)).flat(),
      causes: await causesOf(url, afterwards),
    };
  } finally {
    await Promise.all(processes.map((each) => each.stop()));
  }
}

async function ok(client: Client, path: string, body: object): Promise<any> {
  const answer = await client.post(path, body);
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** A point for each cent, the day of the last purchase, and what the campaign has earned. */
async function declareCampaign(client: Client): Promise<void> {
  for (const [scope, name, type] of [
    ['user', 'points', 'number'],
    ['user', 'last', 'string'],
    ['campaign', 'revenue', 'number'],
  ]) {
    await ok(client, `/v1/campaigns/${CAMPAIGN}/variables:define`, { scope, name, type });
  }
  const amount = { op: 'inc', valueFrom: 'properties.amount' };
  const last = { path: 'state.user.last', op: 'set', valueFrom: 'occurredAt' };
  for (const [name, ops] of [
    [POINTS, [{ path: 'state.user.points', ...amount }, last]],
    [REVENUE, [{ path: 'state.campaign.revenue', ...amount }]],
  ] as const) {
    await ok(client, `/v1/campaigns/${CAMPAIGN}/reactions:define`, { name, eventType: 'purchase', ops });
  }
}

async function send(client: Client, purchases: readonly Purchase[]): Promise<void> {
  for (let from = 0; from < purchases.length; from += ITEMS) {
    const items = purchases.slice(from, from + ITEMS).map(purchaseEvent);
    const { results } = await ok(client, '/v1/cdp/events/batch', { items });
    const refused = results.find(({ status }: { status: string }) => status !== 'accepted');
    if (refused !== undefined) throw new Error(`A purchase was not accepted: ${JSON.stringify(refused)}`);
  }
}

/** The values of each participant, and of the campaign. */
async function valuesOf(url: string, { tenantId }: Workspace): Promise<Record<string, unknown>> {
  const rows = await rowsOf<{ name: string; value: unknown }>(
    url,
    `SELECT subject AS name, values AS value FROM participant_states WHERE tenant_id = $1 AND values <> '{}'
     UNION ALL
     SELECT 'the campaign', value FROM shared_values WHERE tenant_id = $1 AND name = 'revenue'`,
    [tenantId],
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]).toSorted());
}

/** In cents these sums are exact. `received`: in the order of receipt. */
function expectedOf(received: readonly Purchase[]): Record<string, unknown> {
  const customers = new Map<string, { cents: number; last: string }>();
  let cents = 0;
  for (const purchase of received) {
    const before = customers.get(subjectOf(purchase))?.cents ?? 0;
    customers.set(subjectOf(purchase), { cents: before + purchase.cents, last: `${purchase.date}T00:00:00.000Z` });
    cents += purchase.cents;
  }
  const values = [...customers].map(([name, { cents: own, last }]) => [name, { last, points: own / 100 }]);
  return { ...Object.fromEntries(values), 'the campaign': cents / 100 };
}

async function causesOf(url: string, { tenantId }: Workspace): Promise<Record<string, number>> {
  const rows = await rowsOf<{ kind: string; entries: number }>(
    url,
    `SELECT cause ->> 'kind' AS kind, count(*)::int AS entries FROM value_changes
     WHERE tenant_id = $1 AND op = 'inc' GROUP BY 1`,
    [tenantId],
  );
  return Object.fromEntries(rows.map(({ kind, entries }) => [kind, entries]));
}
