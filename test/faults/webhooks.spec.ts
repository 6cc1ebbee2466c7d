import { setTimeout as wait } from 'node:timers/promises';
import { Client } from '../support/client';
import { anExternalEvent } from '../support/builders';
import { aClockedDatabase } from '../support/database-clock';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { startServiceProcess } from '../support/service-process';
import { until } from '../support/until';
import {
  aWebhook,
  replayOnce,
  startReceiver,
  startReplay,
  type ReceivedCall,
  type Receiver,
} from '../support/webhooks';
import { openArena } from './arena/arena';
import { randomOf } from './arena/random';

/** One here, so that every run of the tests has seen each; `npm run test:faults` kills more often. */
const number = (variable: string): number => Number(process.env[variable] ?? 1);
const KILLS = number('FAULT_WEBHOOK_KILLS');
const RESTARTS = number('FAULT_WEBHOOK_POSTGRES_KILLS');
const CUSTOMERS = 12;
const EVENTS_PER_CUSTOMER = process.env['LONG_ROUNDS'] === undefined ? 8 : 15;
/** An answer in the middle, which is lost in any case; others are by chance. */
const LOST_CALL = 15;
const REPLAYED_PER_CUSTOMER = 75;
/** The numbers of live events. */
const LIVE_FROM = 1_000;
const MS_MAX = 240_000;

const CAMPAIGN = 'spring';
const POINTS = { change: { scope: 'user', name: 'points' } };
const STOCK = { change: { scope: 'campaign', name: 'stock' } };
const EVENTS = [{ eventType: 'purchase' }, POINTS, STOCK];

const ENVIRONMENT = { SECRETS_KEY: 'webhooks-'.padEnd(40, 'x'), WEBHOOKS_ALLOW_PRIVATE: 'true' };

const customer = (who: number): string => `customer-${who}`;
const upTo = (count: number): number[] => Array.from({ length: count }, (_unused, index) => index);

async function declareVariables(admin: Client): Promise<void> {
  for (const [scope, name] of [
    ['user', 'points'],
    ['campaign', 'stock'],
  ]) {
    await admin.post(`/v1/campaigns/${CAMPAIGN}/variables:define`, { scope, name, type: 'number' });
  }
}

/** Sets the points of a customer, and counts the stock up. */
function aMutation(who: number, n: number): [path: string, body: object] {
  const ops = [
    { path: 'state.user.points', op: 'set', value: n },
    { path: 'state.campaign.stock', op: 'inc', value: 1 },
  ];
  const path = `/v1/campaigns/${CAMPAIGN}/participants/${customer(who)}/state:mutate`;
  return [path, { ops, mutation_id: `${who}/${n}` }];
}

function anEventOf(who: number, n: number): Record<string, unknown> {
  return anExternalEvent({ identity: { type: 'EXTERNAL', value: customer(who) }, attributes: { n, who } });
}

/** Without repetitions, which directly follow the call that they repeat: no later one came between. */
function numbersOnce(calls: readonly ReceivedCall[], numberOf: (data: any) => number | undefined): number[] {
  const numbers = calls.flatMap(({ body }) => numberOf(body.data) ?? []);
  return numbers.filter((n, index) => n !== numbers[index - 1]);
}

/** Each customer's events and points are numbered from 0; the stock counts all mutations. */
function expectOrder(calls: readonly ReceivedCall[], customers: number, perCustomer: number): void {
  for (const who of upTo(customers)) {
    const events = numbersOnce(calls, ({ properties }) => (properties?.who === who ? properties.n : undefined));
    const points = numbersOnce(calls, (data) => (data.participant === customer(who) ? data.current : undefined));
    expect({ who, events, points }).toEqual({ who, events: upTo(perCustomer), points: upTo(perCustomer) });
  }
  const stock = numbersOnce(calls, ({ name, current }) => (name === 'stock' ? current : undefined));
  expect(stock).toEqual(upTo(customers * perCustomer).map((n) => n + 1));
}

const idsOf = (calls: readonly ReceivedCall[]): string[] => calls.map(({ headers }) => String(headers['webhook-id']));

/** Three calls for each step of a customer: the event, the points, the stock. */
async function untilAllCame(receiver: Receiver, steps: number, seconds: number): Promise<void> {
  await until(() => new Set(idsOf(receiver.calls)).size === 3 * steps, seconds);
}

it(
  'loses nothing and keeps the order of each customer over kills of a service that is sending',
  async () => {
    const environment = {
      ...ENVIRONMENT,
      DATABASE_URL: await freshDatabaseUrl('webhooks'),
      BOOTSTRAP_ADMIN_KEY: 'webhooks-admin-'.padEnd(40, 'x'),
    };
    const receiver = await startReceiver();
    let service = await startServiceProcess(environment);
    let admin = new Client(service.url, service.adminKey);
    await declareVariables(admin);
    const { id } = await aWebhook(admin, receiver.url, { events: EVENTS, unmask: true });
    for (const round of upTo(KILLS)) {
      const steps = upTo(CUSTOMERS * EVENTS_PER_CUSTOMER).map((index) => ({
        who: index % CUSTOMERS,
        n: round * EVENTS_PER_CUSTOMER + Math.floor(index / CUSTOMERS),
      }));
      const before = receiver.calls.length;
      const { body } = await admin.post('/v1/external-events:batch', {
        items: steps.map(({ who, n }) => anEventOf(who, n)),
      });
      expect(body.results.every(({ status }: { status: string }) => status === 'accepted')).toBe(true);
      for (const { who, n } of steps) expect((await admin.post(...aMutation(who, n))).status).toBe(200);
      await until(() => receiver.calls.length >= before + CUSTOMERS * 3, 60);
      await service.kill();
      // As 30 seconds would: the claims of the killed process run out.
      await rowsOf(environment.DATABASE_URL, 'UPDATE webhook_queues SET due_at = now() WHERE endpoint_id = $1', [id]);
      service = await startServiceProcess(environment);
      admin = new Client(service.url, service.adminKey);
    }
    const steps = KILLS * EVENTS_PER_CUSTOMER;
    await untilAllCame(receiver, CUSTOMERS * steps, 120);
    expectOrder(receiver.calls, CUSTOMERS, steps);
    const [rows] = await rowsOf<{ count: number }>(
      environment.DATABASE_URL,
      'SELECT count(*)::int AS count FROM webhook_deliveries WHERE endpoint_id = $1',
      [id],
    );
    expect(rows).toEqual({ count: 3 * CUSTOMERS * steps });
    await service.stop();
    await receiver.stop();
  },
  MS_MAX,
);

it(
  'sends everything once and in order over kills of PostgreSQL, and again only what was not answered',
  async () => {
    const customers = 4;
    const random = randomOf(27);
    const [receiver, arena] = await Promise.all([startReceiver(), openArena(random, undefined, ENVIRONMENT)]);
    const lost = new Set<string>();
    receiver.answer(({ headers }) => {
      const id = String(headers['webhook-id']);
      const isLost = random.chance(0.02) || receiver.calls.length === LOST_CALL;
      if (lost.has(id) || !isLost) return { status: 204 };
      lost.add(id);
      return 'lost';
    });
    const clients = arena.nodes.map(({ line }) => new Client(`http://127.0.0.1:${line.port}`, arena.adminKey));
    const [admin] = clients as [Client];
    await declareVariables(admin);
    await aWebhook(admin, receiver.url, { events: EVENTS, unmask: true });
    let isOver = false;
    /** Sends the same again until it is acknowledged, as clients have to. */
    const send = async (path: string, body: object): Promise<void> => {
      for (;;) {
        const answer = await random
          .oneOf(clients)
          .post(path, body)
          .catch(() => undefined);
        if (answer !== undefined && answer.status < 300) return;
        await wait(50);
      }
    };
    /** Returns how many steps it made. */
    const goOn = async (who: number): Promise<number> => {
      for (let n = 0; ; n += 1) {
        if (isOver) return n;
        await send('/v1/external-events', anEventOf(who, n));
        await send(...aMutation(who, n));
      }
    };
    const sending = upTo(customers).map(goOn);
    for (const restart of upTo(RESTARTS)) {
      const before = receiver.calls.length;
      await until(() => receiver.calls.length >= before + 20 * (restart + 1), 60);
      await arena.postgres.kill();
      await arena.postgres.start(10_000);
    }
    isOver = true;
    const made = await Promise.all(sending);
    const steps = made.reduce((sum, each) => sum + each, 0);
    await untilAllCame(receiver, steps, 120);
    // One that was the last of its customer comes again when nothing else does.
    await until(
      () => [...lost].every((id) => idsOf(receiver.calls).indexOf(id) !== idsOf(receiver.calls).lastIndexOf(id)),
      60,
    );
    for (const [who, count] of made.entries()) {
      const events = numbersOnce(receiver.calls, ({ properties }) =>
        properties?.who === who ? properties.n : undefined,
      );
      const points = numbersOnce(receiver.calls, (data) =>
        data.participant === customer(who) ? data.current : undefined,
      );
      expect({ events, points }).toEqual({ events: upTo(count), points: upTo(count) });
    }
    const stock = numbersOnce(receiver.calls, ({ name, current }) => (name === 'stock' ? current : undefined));
    expect(stock).toEqual(upTo(steps).map((n) => n + 1));
    expect(lost.size).toBeGreaterThan(0);
    const repeated = idsOf(receiver.calls).filter((id, index, all) => all.indexOf(id) !== index);
    expect(repeated.toSorted()).toEqual([...lost].toSorted());
    await arena.close();
    await receiver.stop();
  },
  MS_MAX,
);

it(
  'keeps for an endpoint that is disabled for days what happens meanwhile, and sends it once and in order when it is enabled',
  async () => {
    const customers = 3;
    const days = 9;
    const database = await aClockedDatabase('webhooks_days');
    const [receiver, service] = await Promise.all([
      startReceiver(),
      startServiceProcess({ ...ENVIRONMENT, DATABASE_URL: database.url }),
    ]);
    const admin = new Client(service.url, service.adminKey);
    await declareVariables(admin);
    const { id } = await aWebhook(admin, receiver.url, { events: EVENTS, unmask: true });
    const shown = async (): Promise<any> => (await admin.get(`/v1/webhooks/${id}`)).body;
    const attempts = async (): Promise<number> => {
      const [row] = await rowsOf<{ sum: number }>(
        database.url,
        'SELECT coalesce(sum(attempt_count), 0)::int AS sum FROM webhook_deliveries WHERE endpoint_id = $1',
        [id],
      );
      return row!.sum;
    };
    receiver.answer(() => ({ status: 500 }));
    // Counted before a day passes: afterwards what is due again may be tried at any moment.
    let before = 0;
    for (const day of upTo(days)) {
      for (const who of upTo(customers)) {
        expect((await admin.post('/v1/external-events', anEventOf(who, day))).status).toBe(202);
        expect((await admin.post(...aMutation(who, day))).status).toBe(200);
      }
      await until(async () => (await attempts()) > before || !(await shown()).enabled);
      before = await attempts();
      await database.passDays(1);
    }
    await until(async () => !(await shown()).enabled);
    expect(await shown()).toMatchObject({ enabled: false, disabledReason: 'failing' });
    // Everything is there, each once, and nothing is sent.
    const stored = (): Promise<unknown[]> =>
      rowsOf(
        database.url,
        `SELECT state, count(*)::int AS count FROM webhook_deliveries WHERE endpoint_id = $1 GROUP BY state`,
        [id],
      );
    const total = 3 * customers * days;
    await until(async () => JSON.stringify(await stored()) === JSON.stringify([{ state: 'pending', count: total }]));
    const failed = receiver.calls.length;
    receiver.answer(() => ({ status: 204 }));
    expect((await admin.post(`/v1/webhooks/${id}:enable`, {})).status).toBe(200);
    await until(async () => JSON.stringify(await stored()) === JSON.stringify([{ state: 'delivered', count: total }]));
    const delivered = receiver.calls.slice(failed);
    expectOrder(delivered, customers, days);
    expect(delivered).toHaveLength(total);
    expect(new Set(idsOf(delivered)).size).toBe(total);
    // What failed on the first days has the same ids.
    expect(idsOf(delivered)).toEqual(expect.arrayContaining(idsOf(receiver.calls.slice(0, failed))));
    await service.stop();
    await receiver.stop();
  },
  MS_MAX,
);

it(
  'replays every event in order for each customer over kills of a worker, beside live events',
  async () => {
    const environment = {
      DATABASE_URL: await freshDatabaseUrl('webhook_replays'),
      SECRETS_KEY: 'webhooks-'.padEnd(40, 'x'),
      WEBHOOKS_ALLOW_PRIVATE: 'true',
      BOOTSTRAP_ADMIN_KEY: 'webhooks-admin-'.padEnd(40, 'x'),
    };
    const receiver = await startReceiver();
    const api = await startServiceProcess({ ...environment, ROLE: 'api' });
    let worker = await startServiceProcess({ ...environment, ROLE: 'worker' });
    const admin = new Client(api.url, api.adminKey);
    const send = async (from: number, count: number): Promise<void> => {
      const items = Array.from({ length: CUSTOMERS * count }, (_unused, index) =>
        anExternalEvent({
          identity: { type: 'EXTERNAL', value: `customer-${index % CUSTOMERS}` },
          attributes: { n: from + Math.floor(index / CUSTOMERS), who: index % CUSTOMERS },
          occurred_at: new Date(1_700_000_000_000 + from * 1_000 + index).toISOString(),
        }),
      );
      const { body } = await admin.post('/v1/external-events:batch', { items });
      expect(body.results.every(({ status }: { status: string }) => status === 'accepted')).toBe(true);
    };
    await send(0, REPLAYED_PER_CUSTOMER);
    const { id } = await aWebhook(admin, receiver.url);
    const path = await startReplay(admin, id);
    const progress = async (): Promise<any> => (await admin.get(path)).body;
    const replayed = CUSTOMERS * REPLAYED_PER_CUSTOMER;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await until(async () => (await progress()).queued >= (replayed * kill) / (KILLS + 2), 60);
      await worker.kill();
      expect(await progress()).toMatchObject({ state: 'running' });
      // As 30 seconds would: the claims of the killed process run out.
      await rowsOf(environment.DATABASE_URL, 'UPDATE webhook_queues SET due_at = now() WHERE endpoint_id = $1', [id]);
      worker = await startServiceProcess({ ...environment, ROLE: 'worker' });
      await send(LIVE_FROM * kill, 2);
    }
    expect(await replayOnce(() => admin, path, 120)).toMatchObject({
      state: 'done',
      total: replayed,
      scanned: replayed,
      queued: replayed,
      alreadyQueued: 0,
      skipped: 0,
      failed: 0,
      expired: 0,
    });
    const total = replayed + CUSTOMERS * 2 * KILLS;
    await until(() => new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size === total, 120);
    for (let who = 0; who < CUSTOMERS; who += 1) {
      const own = receiver.calls.map(({ body }) => body.data.properties).filter((each) => each.who === who);
      const numbers = own.map(({ n }) => n).filter((n, index, all) => n !== all[index - 1]);
      // The replayed ones and the live ones have their order each, and nothing came twice but a lost answer.
      const expected = Array.from({ length: REPLAYED_PER_CUSTOMER }, (_unused, n) => n);
      expect(numbers.filter((n) => n < LIVE_FROM)).toEqual(expected);
      expect(numbers.filter((n) => n >= LIVE_FROM)).toHaveLength(2 * KILLS);
      expect(numbers.filter((n) => n >= LIVE_FROM)).toEqual(
        numbers.filter((n) => n >= LIVE_FROM).toSorted((a, b) => a - b),
      );
    }
    await Promise.all([api.stop(), worker.stop(), receiver.stop()]);
  },
  MS_MAX,
);
