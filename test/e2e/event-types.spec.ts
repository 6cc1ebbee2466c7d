import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { startApp, type TestApp } from '../support/app';
import { aCdpEvent, PURCHASE } from '../support/builders';
import { Client, type Answer } from '../support/client';
import { withClient } from '../support/database';
import { aTenant, type Tenant } from '../support/tenant';

/** On every node (contract section 4). */
const IN_FORCE_MS_MAX = 1_000;
const INVALID = '422 validation_failed';

let service: TestApp;
let other: TestApp;
let tenant: Tenant;
let client: Client;

beforeAll(async () => {
  service = await startApp();
  other = await startApp();
});

beforeEach(async () => {
  tenant = await aTenant(service.databaseUrl);
  client = new Client(service.url, tenant.adminKey);
});

afterAll(() => Promise.all([service.stop(), other.stop()]));

const register = (fields: object = {}, by = client): Promise<Answer> =>
  by.post('/v1/cdp/event-types', { ...PURCHASE, ...fields });
const withProperties = (properties: object, by = client): Promise<Answer> =>
  register({ properties: { ...PURCHASE.properties, ...properties } }, by);
const send = (fields = {}, by = client): Promise<Answer> => by.post('/v1/cdp/events', aCdpEvent(fields));
const summary = ({ status, body }: Answer): unknown => [status, body.version ?? body.error_code];

/** A refusal's code and every fault, as `path code`, in the order of the alphabet. */
function faultsOf({ status, body }: Answer): string[] {
  return [`${status} ${body.error_code}`, ...body.details.map(({ path, code }: any) => `${path} ${code}`).sort()];
}

function versionsInDatabase(): Promise<number[]> {
  return withClient(service.databaseUrl, async (database) => {
    const sql = 'SELECT version FROM event_type_versions WHERE tenant_id = $1 ORDER BY version';
    return (await database.query(sql, [tenant.tenantId])).rows.map(({ version }) => version);
  });
}

describe('POST /v1/cdp/event-types', () => {
  it('answers the first registration with 201 and the record of version 1', async () => {
    const { status, body } = await register({ description: 'A purchase' });
    expect({ status, ...body }).toEqual({
      ...PURCHASE,
      status: 201,
      version: 1,
      description: 'A purchase',
      additionalProperties: 'reject',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });

  it('answers the same definition again with 200 and the record as it was, in whatever order it is written', async () => {
    const first = await register();
    const properties = Object.fromEntries(Object.entries(PURCHASE.properties).toReversed());
    for (const fields of [{}, { properties }, { additionalProperties: 'reject', description: null }, { force: true }]) {
      const { status, body } = await register(fields);
      expect([status, body]).toEqual([200, first.body]);
    }
    expect(await versionsInDatabase()).toEqual([1]);
  });

  it.each([
    ['a new optional property', { properties: { ...PURCHASE.properties, coupon: { type: 'string' } } }],
    ['a wider enum', withCurrency({ enum: ['USD', 'EUR', 'CHF'] })],
    ['no enum any more', withCurrency({})],
    ['a relaxed required', { properties: { ...PURCHASE.properties, amount: { type: 'number' } } }],
    ['an integer that may be any number', { properties: { ...PURCHASE.properties, quantity: { type: 'number' } } }],
    ['a new description', { description: 'A purchase' }],
    ['a property that becomes personal', withCurrency({ enum: ['USD', 'EUR'], pii: true })],
    ['undeclared properties allowed', { additionalProperties: 'allow' }],
  ])('makes version 2 of a compatible change: %s', async (_name, fields) => {
    await register();
    expect(summary(await register(fields))).toEqual([201, 2]);
    expect(summary(await register(fields))).toEqual([200, 2]);
  });

  it('refuses a breaking change with 409 and every break, and changes nothing', async () => {
    await register({ additionalProperties: 'allow' });
    const properties = {
      amount: { type: 'string', required: true },
      quantity: { type: 'integer', required: true },
      currency: { type: 'string', enum: ['USD'], format: 'hostname' },
      coupon: { type: 'string', required: true },
    };
    expect(faultsOf(await register({ properties, additionalProperties: 'reject' }))).toEqual([
      ...['409 incompatible_event_type', 'additionalProperties additional_properties_rejected'],
      ...['properties.amount property_type_changed', 'properties.coupon property_added_required'],
      ...['properties.currency enum_narrowed', 'properties.currency format_changed'],
      ...['properties.nickname property_removed', 'properties.quantity property_made_required'],
    ]);
    expect(await versionsInDatabase()).toEqual([1]);
    expect((await send({ properties: { amount: 1, undeclared: true } })).status).toBe(202);
  });

  it('makes the next version of a breaking change that is forced, and compares with that from then on', async () => {
    await register();
    expect(summary(await register({ properties: {}, force: true }))).toEqual([201, 2]);
    expect(summary(await register({ properties: {} }))).toEqual([200, 2]);
    expect(summary(await register())).toEqual([409, 'incompatible_event_type']);
    expect((await send()).body.details).toMatchObject([{ path: 'properties.amount', code: 'unknown_property' }]);
  });
});

function withCurrency(currency: object): object {
  return { properties: { ...PURCHASE.properties, currency: { type: 'string', ...currency } } };
}

describe('a definition', () => {
  it('is refused with every fault that it has', async () => {
    const properties = {
      a: { type: 'text', requird: true, enum: 'x', description: 7, pii: 'yes' },
      b: { type: 'number', format: 'email', enum: ['1', 2, 2] },
      c: 'string',
      '': {},
      'a\u0000b': { type: 'string' },
    };
    const others = { eventType: 'no name', additionalProperties: 'maybe', force: 1, owner: 'me' };
    expect(faultsOf(await register({ properties, ...others }))).toEqual([
      ...[INVALID, 'additionalProperties enum', 'eventType format', 'force type', 'owner unknown_field'],
      ...['properties.a.description type', 'properties.a.enum type', 'properties.a.pii type'],
      ...['properties.a.requird unknown_field', 'properties.a.type enum', 'properties.b.enum[0] type'],
      ...['properties.b.enum[2] duplicate', 'properties.b.format conflicting_fields', 'properties.c type'],
      ...['properties[""] empty', 'properties[""].type required'],
      'properties["a\uFFFDb"] format',
    ]);
    expect(await versionsInDatabase()).toEqual([]);
  });

  it.each([
    ['{}', ['eventType required', 'properties required']],
    ['[]', [' type']],
    ['{"eventType": "a", "properties": []}', ['properties type']],
    [
      '{"eventType": "a", "properties": {"a": {"type": "number", "enum": [0.10, 0.1234567890123456789, 1e-400]}}}',
      ['properties.a.enum[1] range', 'properties.a.enum[2] range'],
    ],
    ['{"eventType": "a", "properties": {}, "__proto__": {"force": true}}', ['__proto__ unknown_field']],
    [
      '{"eventType": "a", "properties": {"a": {"__proto__": {"type": "string"}}}}',
      ['properties.a.__proto__ unknown_field', 'properties.a.type required'],
    ],
  ])('is refused as %s', async (body, faults) => {
    expect(faultsOf(await client.send('/v1/cdp/event-types', body))).toEqual([INVALID, ...faults]);
  });

  it.each(['', ' ', 'a b', '-a', '.a', 'a/b', 'a:b', 'é', 'a\u0000', 'x'.repeat(129)])(
    'is refused with the name %j, which could not stand in a path',
    async (eventType) => {
      expect(faultsOf(await register({ eventType }))).toEqual([INVALID, 'eventType format']);
    },
  );

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('may declare a property %s', async (name) => {
    const definition = `{"eventType": "odd", "properties": {"${name}": {"type": "integer", "required": true}}}`;
    const { status, body } = await client.send('/v1/cdp/event-types', definition);
    expect([status, Object.entries(body.properties)]).toEqual([201, [[name, { type: 'integer', required: true }]]]);
    expect((await client.send('/v1/cdp/event-types', definition)).status).toBe(200);
    const { properties: _, ...fields } = aCdpEvent({ eventType: 'odd' });
    const event = (properties: string): Promise<Answer> =>
      client.send('/v1/cdp/events', `${JSON.stringify(fields).slice(0, -1)}, "properties": {${properties}}}`);
    expect(faultsOf(await event(''))).toEqual([INVALID, `properties.${name} required`]);
    expect(faultsOf(await event(`"${name}": "1"`))).toEqual([INVALID, `properties.${name} type`]);
    expect((await event(`"${name}": 1`)).status).toBe(202);
  });

  it.each([
    ['an enum of 101 values', { type: 'integer', enum: [...Array(101).keys()] }, 'too_many_items'],
    ['an enum of 20,000 values', { type: 'integer', enum: [...Array(20_000).keys()] }, 'too_many_items'],
    ['an enum value of 257 characters', { type: 'string', enum: ['x'.repeat(257)] }, 'too_long'],
    ['an enum value with U+0000', { type: 'string', enum: ['\u0000'] }, 'invalid_characters'],
    ['an enum value with half a character', { type: 'string', enum: ['\udc00'] }, 'invalid_characters'],
    ['a description with U+0000', { type: 'string', description: 'a\u0000' }, 'invalid_characters'],
    ['a description of 1,001 characters', { type: 'string', description: 'x'.repeat(1_001) }, 'too_long'],
  ])('is refused with %s', async (_name, property, code) => {
    const place = `properties.odd.${'description' in property ? 'description' : 'enum'}`;
    const index = code === 'too_many_items' || 'description' in property ? '' : '[0]';
    expect(faultsOf(await withProperties({ odd: property }))).toEqual([INVALID, `${place}${index} ${code}`]);
  });

  it('is refused with 301 properties, and with so many faults only the first 100 are listed', async () => {
    const many = (count: number, property: unknown): object =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, property]));
    expect((await register({ properties: many(300, { type: 'string' }) })).status).toBe(201);
    const tooMany = await register({ eventType: 'other', properties: many(301, { type: 'string' }) });
    expect(faultsOf(tooMany)).toEqual([INVALID, 'properties too_many_keys']);
    const { details } = (await register({ eventType: 'other', properties: many(300, 'string') })).body;
    expect([details.length, details.at(-1).code]).toEqual([101, 'too_many_faults']);
  });
});

describe('registrations', () => {
  it.each([
    ['first', 1],
    ['further', 2],
  ])('at the same moment give consecutive versions: the %s', async (_which, first) => {
    if (first === 2) await register();
    const wordings = Array.from({ length: 20 }, (_, index) => `wording ${index}`);
    const answers = wordings.map((description, index) =>
      register({ description }, new Client((index % 2 === 0 ? service : other).url, tenant.adminKey)),
    );
    const made = (await Promise.all(answers)).map(({ status, body }) => [body.version, status]);
    const consecutive = wordings.map((_, index) => first + index);
    expect(made.sort(([a], [b]) => a - b)).toEqual(consecutive.map((version) => [version, 201]));
    expect(await versionsInDatabase()).toEqual(first === 2 ? [1, ...consecutive] : consecutive);
  });

  it('of one definition at the same moment make one version', async () => {
    const answers = await Promise.all(Array.from({ length: 150 }, () => register()));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array<number>(149).fill(200), 201]);
    expect(await versionsInDatabase()).toEqual([1]);
  });

  it('of one workspace mean nothing to another', async () => {
    await register();
    const stranger = new Client(service.url, (await aTenant(service.databaseUrl)).adminKey);
    expect((await send({}, stranger)).body.details).toMatchObject([{ code: 'unregistered_event_type' }]);
    expect(summary(await register({ properties: {} }, stranger))).toEqual([201, 1]);
    expect((await send()).status).toBe(202);
  });

  it('are in force on the node that took them with the next request', async () => {
    const properties: Record<string, object> = { ...PURCHASE.properties };
    for (const name of ['first', 'second']) {
      expect((await send({ properties: { amount: 1, [name]: 'x' } })).status).toBe(422);
      properties[name] = { type: 'string' };
      await register({ properties });
      expect((await send({ properties: { amount: 1, [name]: 'x' } })).status).toBe(202);
    }
  });

  it('are in force on every other node within a second', async () => {
    const there = new Client(other.url, tenant.adminKey);
    const properties: Record<string, object> = { ...PURCHASE.properties };
    for (const name of ['first', 'second', 'third']) {
      const event = { properties: { amount: 1, [name]: 'x' } };
      // The other node remembers what held until now.
      expect((await send(event, there)).status).toBe(422);
      properties[name] = { type: 'string' };
      const { body } = await register({ properties });
      const lastMs = await lastMsOfOldAnswer(async () => (await send(event, there)).status === 202);
      const words = `version ${body.version} was last not in force on the other node after ${lastMs} ms`;
      expect([words, lastMs <= IN_FORCE_MS_MAX]).toEqual([words, true]);
    }
  });
});

/** When the last question was sent that got the old answer; how long answers take does not count. */
async function lastMsOfOldAnswer(isSo: () => Promise<boolean>): Promise<number> {
  const startedAt = performance.now();
  for (let lastMs = 0; ;) {
    const askedMs = Math.round(performance.now() - startedAt);
    if ((await isSo()) || askedMs > 10 * IN_FORCE_MS_MAX) return lastMs;
    lastMs = askedMs;
    await wait(10);
  }
}
