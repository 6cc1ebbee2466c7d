import { Client } from '../support/client';
import { blocksOf, ReadersShell } from '../support/documented-commands';
import { freshDatabaseUrl } from '../support/database';
import { freePort, programsOf, ReceiverProject, type RunningProgram } from '../support/receiver-program';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';
import { until } from '../support/until';

const MS_MAX = 60_000;
const RECIPES = 'docs/recipes.md';

let service: ServiceProcess;
let admin: Client;
let shell: ReadersShell;
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  environment = {
    DATABASE_URL: await freshDatabaseUrl('recipes'),
    SECRETS_KEY: 'recipes-'.padEnd(40, 'x'),
    WEBHOOKS_ALLOW_PRIVATE: 'true',
  };
  service = await startServiceProcess(environment);
  admin = new Client(service.url, service.adminKey);
  shell = new ReadersShell(service.url, service.adminKey, environment);
  await follow('Recipes', 1);
}, MS_MAX);

afterAll(async () => {
  shell.close();
  await service.stop();
}, MS_MAX);

/** Runs the blocks of a recipe, of which there are so many, and holds them to the answers that it shows. */
async function follow(recipe: string, count: number): Promise<void> {
  const blocks = blocksOf(RECIPES, [recipe]);
  expect(blocks).toHaveLength(count);
  for (const block of blocks) await shell.follow(block);
}

async function sendUpgrade(externalEventId: string, seats: unknown): Promise<void> {
  const event = {
    source: 'web.accounts',
    externalEventId,
    eventType: 'upgrade',
    properties: { plan: 'pro', seats },
  };
  const { status } = await admin.post('/v1/cdp/events', { ...event, identity: { externalUserId: 'customer-1' } });
  expect(status).toBe(422);
}

describe('the recipes work as they are written', () => {
  it(
    'repair and replay: one, and the rest by a filter, of which one fails again',
    async () => {
      await sendUpgrade('upgrade-1', '3');
      for (const id of ['upgrade-2', 'upgrade-3', 'upgrade-4']) await sendUpgrade(id, 3);
      await follow('Repair and replay', 5);
      expect((await admin.get('/v1/review-entries?status=open')).body.items).toMatchObject([
        { externalEventId: 'upgrade-1', resolution: { outcome: 'error', reason: 'type' } },
      ]);
      expect((await admin.get('/v1/events?eventType=upgrade')).body.items).toHaveLength(3);
    },
    MS_MAX,
  );

  it(
    'rotate a key without a gap: the old key goes, the new one and another of its name stay',
    async () => {
      const fields = { scopes: ['external-events:write'], sources: ['shop.orders'] };
      const old = await admin.post('/v1/api-keys', { name: 'web shop', ...fields });
      await admin.post('/v1/api-keys', { name: 'web shop', ...fields });
      await shell.run(`export OLD=${old.body.apiKey.id}`);
      await follow('Rotate a key without a gap', 3);
      expect((await admin.get(`/v1/api-keys/${old.body.apiKey.id}`)).body.state).toBe('REVOKED');
      expect((await admin.get('/v1/api-keys?state=ACTIVE')).body.items).toMatchObject([
        { name: 'web shop 2', ...fields },
        { name: 'web shop', ...fields },
        { name: 'first admin key' },
      ]);
    },
    MS_MAX,
  );

  it(
    'trust an identity provider, in one workspace and in another',
    async () => {
      await follow('Trust an identity provider', 1);
      const [key = ''] = await shell.run('npm run -s cds -- workspaces create another 2>/dev/null');
      const another = new ReadersShell(service.url, key, environment);
      try {
        await another.run(blocksOf(RECIPES, ['Recipes'])[0]?.commands ?? '');
        for (const block of blocksOf(RECIPES, ['Trust an identity provider'])) await another.follow(block);
      } finally {
        another.close();
      }
      const lists = [admin, new Client(service.url, key)].map((client) => client.get('/v1/jwt-issuers'));
      const issuers = (await Promise.all(lists)).map(({ body }) => body.items.map(({ issuer }: any) => issuer));
      expect(issuers).toEqual([['https://login.example.com/'], ['https://login.example.com/']]);
    },
    MS_MAX,
  );

  it(
    'declare a reaction, read the timeline of its customer, export the events, and erase the person',
    async () => {
      await follow('Declare a reaction', 2);
      await follow('Change and export what participants have', 5);
      await follow('Load events into a warehouse', 2);
      await follow('Read a timeline', 1);
      await follow('Erase a person', 2);
      // What was exported is where `git add .` does not find it.
      expect(await shell.run('ls')).toEqual([]);
      const items = (await admin.get('/v1/events?source=shop.orders&externalEventId=order-100')).body.items;
      expect(items.map(({ identity, properties }: any) => [identity, properties])).toEqual([[{}, {}]]);
    },
    MS_MAX,
  );

  it(
    'receive webhooks in Express, in Python and behind a queue, and have lost ones delivered again',
    async () => {
      const port = await freePort();
      const project = new ReceiverProject();
      const running: RunningProgram[] = [];
      try {
        await project.install();
        const blocks = blocksOf(RECIPES, ['Receive webhooks']).map(({ commands, ...block }) => {
          return { ...block, commands: commands.replace('127.0.0.1:4000', `127.0.0.1:${port}`) };
        });
        const [express, python, queue] = programsOf(RECIPES, 'Receive webhooks');
        const [create, replay] = blocks;
        if (!express || !python || !queue || !create || !replay) throw new Error('The recipe has lost a part');
        await shell.follow(create);
        const [ids = ''] = await shell.run('echo "$WEBHOOK_SECRET $WEBHOOK"');
        const [secret = '', webhook = ''] = ids.split(' ');
        const start = async (program: typeof express): Promise<RunningProgram> => {
          const started = await project.start(program, { WEBHOOK_SECRET: secret, PORT: String(port) });
          running.push(started);
          return started;
        };
        const eventIds: string[] = [];
        for (const program of [express, python, queue]) {
          const receiver = await start(program);
          expect(await forgedCall(port)).toBe(401);
          eventIds.push(await sendShipment());
          await until(() => receiver.lines().length > 0);
          expect(receiver.lines()).toEqual([
            expect.stringMatching(`^${eventIds.at(-1)} event.order_shipped .*parcels`),
          ]);
          await untilDelivered(webhook, eventIds.length);
          if (program !== queue) await receiver.stop();
        }
        const [last = ''] = eventIds.slice(-1);
        const again = await admin.post(`/v1/webhooks/${webhook}/deliveries/${last}:retry`, {});
        expect(again.status).toBe(200);
        await until(async () => (await deliveriesOf(webhook)).some(({ attemptCount }) => attemptCount === 2));
        await shell.follow(replay);
        await until(() => running.at(-1)!.lines().length === 3);
        expect(
          running
            .at(-1)!
            .lines()
            .map((line) => line.slice(0, 36))
            .toSorted(),
        ).toEqual(eventIds.toSorted());
        // What was done is done, also for a process that begins anew.
        await running.at(-1)!.stop();
        const restarted = await start(queue);
        const next = await sendShipment();
        await until(() => restarted.lines().length > 0);
        expect(restarted.lines().map((line) => line.slice(0, 36))).toEqual([next]);
      } finally {
        await Promise.all(running.map((each) => each.stop()));
        project.remove();
      }
    },
    2 * MS_MAX,
  );
});

/** The status of a call whose signature is by nobody. */
async function forgedCall(port: number): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
    'webhook-signature': 'v1,AAAA v1a,\u00e9',
  };
  const body = JSON.stringify({ type: 'event.order_shipped', data: { eventId: 'x'.repeat(36), properties: {} } });
  return (await fetch(`http://127.0.0.1:${port}/hooks`, { method: 'POST', headers, body })).status;
}

let shipments = 0;

async function sendShipment(): Promise<string> {
  shipments += 1;
  const { status, body } = await admin.post('/v1/external-events', {
    source: 'shop.orders',
    external_event_id: `shipment-${shipments}`,
    type: 'order_shipped',
    identity: { type: 'EXTERNAL', value: 'customer-300' },
    attributes: { parcels: shipments },
  });
  expect(status).toBe(202);
  return body.event_id;
}

async function deliveriesOf(webhook: string): Promise<any[]> {
  return (await admin.get(`/v1/webhooks/${webhook}/deliveries?state=delivered`)).body.items;
}

async function untilDelivered(webhook: string, count: number): Promise<void> {
  await until(async () => (await deliveriesOf(webhook)).length === count);
}
