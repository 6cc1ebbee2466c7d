import { Client } from '../support/client';
import { blocksOf, ReadersShell } from '../support/documented-commands';
import { freshDatabaseUrl } from '../support/database';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';

const MS_MAX = 60_000;
const RECIPES = 'docs/recipes.md';

let service: ServiceProcess;
let admin: Client;
let shell: ReadersShell;
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  environment = { DATABASE_URL: await freshDatabaseUrl('recipes'), SECRETS_KEY: 'recipes-'.padEnd(40, 'x') };
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
    ...{ source: 'web.accounts', externalEventId, eventType: 'upgrade' },
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
});
