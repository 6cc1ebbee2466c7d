import { Ajv2020 } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, PURCHASE } from '../support/builders';
import { aWorkspace, expectProblem, type Client } from '../support/client';
import { withClient } from '../support/database';
import { pagesOf } from '../support/pages';

const PATH = '/v1/cdp/event-types';

let service: SharedApp;
let client: Client;
let tenantId: string;

beforeAll(async () => {
  service = await sharedApp();
});

beforeEach(async () => {
  ({ admin: client, tenantId } = await aWorkspace(service));
});

async function register(fields: object = {}): Promise<any> {
  const { status, body } = await client.post(PATH, { ...PURCHASE, ...fields });
  expect(status).toBe(201);
  return body;
}

/** All types of the list, and how long each page was. */
async function listed(limit?: number): Promise<{ items: any[]; pages: number[] }> {
  const pages = await pagesOf(client, limit === undefined ? PATH : `${PATH}?limit=${limit}`);
  return { items: pages.flat(), pages: pages.map(({ length }) => length) };
}

describe('GET /v1/cdp/event-types', () => {
  it('lists each type once with its version in force, the newest type first', async () => {
    await register({ eventType: 'first' });
    const second = await register({ eventType: 'second' });
    const first = await register({ eventType: 'first', description: 'later' });
    expect(await listed()).toEqual({
      items: [
        { ...second, deprecatedAt: null },
        { ...first, deprecatedAt: null },
      ],
      pages: [2],
    });
    expect(first.version).toBe(2);
    expect((await client.get(PATH)).body.nextCursor).toBeNull();
  });

  it('is empty in a workspace that has registered nothing', async () => {
    expect((await client.get(PATH)).body).toEqual({ items: [], nextCursor: null });
  });

  it.each([1, 2, 4, 5])('shows each of five types once in pages of %d, also of one moment', async (limit) => {
    const names = ['e', 'b', 'a.b', 'A', '0'];
    for (const eventType of names) await register({ eventType });
    await withClient(service.databaseUrl, (database) =>
      database.query("UPDATE event_types SET created_at = '2026-01-02T03:04:05.678Z' WHERE tenant_id = $1", [tenantId]),
    );
    const { items, pages } = await listed(limit);
    expect(items.map(({ eventType }) => eventType).sort()).toEqual(names.toSorted());
    expect(pages.every((length) => length > 0 && length <= limit)).toBe(true);
  });

  it('is stable while types are registered, and while one that it has shown gets a version', async () => {
    for (const eventType of ['one', 'two', 'three']) await register({ eventType });
    const { items, nextCursor } = (await client.get(`${PATH}?limit=1`)).body;
    await register({ eventType: 'four' });
    await register({ eventType: 'three', description: 'changed' });
    await register({ eventType: 'one', description: 'changed' });
    const rest = (await client.get(`${PATH}?cursor=${nextCursor}`)).body.items;
    expect([...items, ...rest].map(({ eventType, version }) => `${eventType} ${version}`)).toEqual([
      'three 1',
      'two 1',
      'one 2',
    ]);
  });

  it('comes short of its limit where definitions are large, and still shows every type', async () => {
    const enumOf = (name: number): string[] => Array.from({ length: 100 }, (_, n) => `${name} ${n} `.padEnd(250, 'x'));
    const properties = Object.fromEntries(
      [0, 1, 2, 3, 4, 5, 6, 7].map((n) => [`p${n}`, { type: 'string', enum: enumOf(n) }]),
    );
    const names = Array.from({ length: 25 }, (_, n) => `type.${n}`);
    for (const eventType of names) await register({ eventType, properties });
    const { items, pages } = await listed(200);
    expect(items.map(({ eventType }) => eventType)).toEqual(names.toReversed());
    expect(pages.length).toBeGreaterThan(1);
    expect(Math.min(...pages)).toBeGreaterThan(0);
  });

  it.each(['limit=0', 'limit=201', 'limit=x', 'cursor=', 'cursor=x', 'page=2'])('refuses %s', async (query) => {
    expectProblem(await client.get(`${PATH}?${query}`), 422, 'validation_failed');
  });
});

describe('GET /v1/cdp/event-types/{eventType}', () => {
  it('shows every version as it was registered, the newest first', async () => {
    const first = await register();
    const second = await register({ description: 'A purchase' });
    const third = await register({ properties: {}, force: true });
    const { status, body } = await client.get(`${PATH}/purchase`);
    expect([status, body]).toEqual([
      200,
      { eventType: 'purchase', deprecatedAt: null, versions: [third, second, first] },
    ]);
  });

  it('shows properties in the order in which they were written, and answers the same text when they are posted again', async () => {
    const property = { required: true, type: 'string', pii: true, enum: ['b', 'a'] };
    await register({ properties: { zeta: property, alpha: property, 'a longer name': property, beta: property } });
    const [version] = (await client.get(`${PATH}/purchase`)).body.versions;
    expect(Object.keys(version.properties)).toEqual(['zeta', 'alpha', 'a longer name', 'beta']);
    const again = await client.post(PATH, { ...PURCHASE, properties: version.properties });
    expect([again.status, JSON.stringify(again.body)]).toEqual([200, JSON.stringify(version)]);
    expect(JSON.stringify((await client.get(PATH)).body.items[0].properties)).toBe(JSON.stringify(version.properties));
  });

  it('shows the newest 100 of many versions', async () => {
    await register();
    await withClient(service.databaseUrl, (database) =>
      database.query(
        `INSERT INTO event_type_versions SELECT tenant_id, event_type, version, definition, created_at, created_by
         FROM (SELECT * FROM event_type_versions WHERE tenant_id = $1) v (tenant_id, event_type, first, definition,
           created_at, created_by), generate_series(2, 150) version`,
        [tenantId],
      ),
    );
    const { versions } = (await client.get(`${PATH}/purchase`)).body;
    expect([versions.length, versions[0].version, versions.at(-1).version]).toEqual([100, 150, 51]);
  });

  it.each(['', '/json-schema'])(
    '%s does not find what is not registered, nor what another workspace has',
    async (end) => {
      const stranger = await aWorkspace(service);
      await stranger.admin.post(PATH, PURCHASE);
      expectProblem(await client.get(`${PATH}/purchase${end}`), 404, 'not_found');
      expect((await stranger.admin.get(`${PATH}/purchase${end}`)).status).toBe(200);
    },
  );

  it.each(['-a', 'a%20b', 'a:b', '%00', 'x'.repeat(129)])('refuses the name %s', async (name) => {
    expectProblem(await client.get(`${PATH}/${name}`), 422, 'validation_failed', ['eventType format']);
    expectProblem(await client.get(`${PATH}/${name}/json-schema`), 422, 'validation_failed', ['eventType format']);
  });
});

describe('GET /v1/cdp/event-types/{eventType}/json-schema', () => {
  it('is a schema that a stock validator takes and that decides as the service does, of the version in force', async () => {
    const properties = {
      amount: { type: 'number', required: true },
      plan: { type: 'string', enum: ['a', 'b'] },
      at: { type: 'timestamp' },
      mail: { type: 'string', format: 'email' },
      count: { type: 'integer' },
      ['__proto__']: { type: 'string' },
    };
    await register({ properties: { amount: { type: 'string' } } });
    await register({ properties, force: true });
    const { status, headers, body } = await client.get(`${PATH}/purchase/json-schema`);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(body).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'purchase' });
    const fits = addFormats(new Ajv2020()).compile(body);
    const samples: [object, boolean][] = [
      [{ amount: 1 }, true],
      [{}, false],
      [{ amount: null }, false],
      [{ amount: '1' }, false],
      [{ amount: 1, plan: 'a', at: '2026-01-02T03:04+02', mail: 'a@b.de', count: 2 }, true],
      [{ amount: 1, plan: null, at: null, mail: null, count: null }, true],
      [{ amount: 1, plan: 'c' }, false],
      [{ amount: 1, at: '2026-02-30T03:04:05Z' }, false],
      [{ amount: 1, at: '2026-01-02T03:04:05' }, false],
      [{ amount: 1, at: '2026-01-02 03:04:05Z' }, false],
      [{ amount: 1, mail: 'a' }, false],
      [{ amount: 1, count: 1.5 }, false],
      [{ amount: 2 ** 53 }, true],
      [{ amount: 2 ** 53 + 2 }, false],
      [{ amount: 1, other: 1 }, false],
      [JSON.parse('{"amount": 1, "__proto__": "x"}'), true],
      [JSON.parse('{"amount": 1, "__proto__": 1}'), false],
    ];
    for (const [data, isRight] of samples) {
      const { status: answered } = await client.post('/v1/cdp/events?dry_run=true', aCdpEvent({ properties: data }));
      expect([JSON.stringify(data), answered, fits(data)]).toEqual([
        JSON.stringify(data),
        isRight ? 202 : 422,
        isRight,
      ]);
    }
  });
});
