import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, anExternalEvent, PURCHASE } from '../support/builders';
import { aWorkspace, expectProblem, reviewEntries, type Answer, type Client, type Workspace } from '../support/client';
import { withClient } from '../support/database';

const PATH = '/v1/cdp/event-types';
const NOTHING = { checked: 0, pass: 0, fail: 0, reasons: [] };

let service: SharedApp;
let workspace: Workspace;
let client: Client;

beforeAll(async () => {
  service = await sharedApp();
});

beforeEach(async () => {
  workspace = await aWorkspace(service);
  client = workspace.admin;
});

const check = (fields: object = {}, by = client): Promise<Answer> =>
  by.post(`${PATH}:check`, { ...PURCHASE, ...fields });
const sampleOf = async (fields: object = {}): Promise<any> => (await check(fields)).body.sample;
const send = (fields: object = {}, by = client): Promise<Answer> => by.post('/v1/cdp/events', aCdpEvent({ ...fields }));
const sendAll = (count: number, fields: object = {}): Promise<Answer> =>
  client.post('/v1/cdp/events/batch', { items: Array.from({ length: count }, () => aCdpEvent({ ...fields })) });

describe('POST /v1/cdp/event-types:check', () => {
  it('tells of a definition that it is new, identical, compatible or breaking, as registering it would', async () => {
    expect((await check()).body).toEqual({ outcome: 'new', breaks: [], sample: NOTHING });
    await client.post(PATH, PURCHASE);
    const definitions = {
      identical: { properties: Object.fromEntries(Object.entries(PURCHASE.properties).toReversed()) },
      compatible: { properties: { ...PURCHASE.properties, coupon: { type: 'string' } } },
      breaking: { properties: { amount: { type: 'string', required: true } } },
    };
    for (const [outcome, fields] of Object.entries(definitions)) {
      const { status, body } = await check(fields);
      expect([status, body.outcome]).toEqual([200, outcome]);
      const registered = await client.post(PATH, { ...PURCHASE, ...fields });
      expect(registered.status).toBe({ identical: 200, compatible: 201, breaking: 409 }[outcome]);
      expect(body.breaks).toEqual(outcome === 'breaking' ? registered.body.details : []);
    }
    expect((await check({ properties: {}, force: true })).body.outcome).toBe('breaking');
  });

  it('writes nothing', async () => {
    await check();
    expect((await client.get(PATH)).body.items).toEqual([]);
    await client.post(PATH, PURCHASE);
    await send({ properties: { amount: 'x' } });
    const [types, entries] = [await client.get(`${PATH}/purchase`), await reviewEntries(client)];
    await check({ properties: { amount: { type: 'string' } }, force: true });
    expect((await client.get(`${PATH}/purchase`)).body).toEqual(types.body);
    expect(await reviewEntries(client)).toEqual(entries);
    expect((await send({ properties: { amount: 'x' } })).status).toBe(422);
  });

  it('refuses what registering would refuse, with every fault', async () => {
    const wrong = { eventType: '-', properties: { a: { type: 'text' } }, force: 1, owner: 'me' };
    const [checked, registered] = [await check(wrong), await client.post(PATH, { ...PURCHASE, ...wrong })];
    expectProblem(
      checked,
      422,
      'validation_failed',
      registered.body.details.map(({ path, code }: any) => `${path} ${code}`),
    );
    expect(registered.body.details).toHaveLength(4);
    expectProblem(await client.send(`${PATH}:check`, '[]'), 422, 'validation_failed', [' type']);
  });

  it('is for whoever may read event types; the sample for whoever may read events too', async () => {
    await send();
    const reader = await workspace.client({ scopes: ['event-types:read'] });
    const answer = await check({}, reader);
    expect([answer.status, answer.body]).toEqual([200, { outcome: 'new', breaks: [] }]);
    const both = await workspace.client({ scopes: ['event-types:read', 'events:read'] });
    expect((await check({}, both)).body).toMatchObject({ outcome: 'new', sample: { checked: 1, pass: 1 } });
    const writer = await workspace.client({ scopes: ['event-types:write'] });
    expectProblem(await check({}, writer), 403, 'insufficient_scope', []);
  });
});

describe('the sample', () => {
  it('says how many stored events would pass, and why others would not', async () => {
    await client.post(PATH, { ...PURCHASE, additionalProperties: 'allow' });
    await sendAll(3, { properties: { amount: 1 } });
    await sendAll(2, { properties: { amount: 1.5, quantity: 2, color: 'red' } });
    await sendAll(1, { properties: { amount: 2, currency: 'EUR' } });
    const properties = {
      amount: { type: 'integer', required: true },
      quantity: { type: 'integer' },
      currency: { type: 'string', enum: ['USD'] },
    };
    expect(await sampleOf({ properties })).toEqual({
      checked: 6,
      pass: 3,
      fail: 3,
      reasons: [
        { code: 'type', path: 'properties.amount', count: 2 },
        { code: 'unknown_property', path: 'properties.color', count: 2 },
        { code: 'enum', path: 'properties.currency', count: 1 },
      ],
    });
    expect(await sampleOf({ additionalProperties: 'allow' })).toMatchObject({ checked: 6, pass: 6, reasons: [] });
  });

  it('says how many refused events would pass: of a type that is not registered yet, or too narrow', async () => {
    await sendAll(2);
    await sendAll(1, { properties: { amount: 'x' } });
    expect(await sampleOf()).toEqual({
      checked: 3,
      pass: 2,
      fail: 1,
      reasons: [{ code: 'type', path: 'properties.amount', count: 1 }],
    });
    await client.post(PATH, { ...PURCHASE, properties: {} });
    await sendAll(1);
    expect(await sampleOf()).toMatchObject({ checked: 4, pass: 3 });
  });

  it('counts a refused event as one that passes only if nothing else is wrong with it', async () => {
    await send({ identity: {} });
    await send({ source: '' });
    await send({ occurredAt: 'soon' });
    await send();
    const { checked, pass, reasons } = await sampleOf();
    expect([checked, pass]).toEqual([4, 1]);
    expect(reasons.map(({ path }: any) => path).sort()).toEqual(['identity', 'occurredAt', 'source']);
  });

  it('counts an event once, however often and for whatever it was refused, and only as stored when it has come in since', async () => {
    const [again, later] = [aCdpEvent(), aCdpEvent()];
    for (const event of [again, again, later]) await client.post('/v1/cdp/events', event);
    await client.post(PATH, { ...PURCHASE, properties: {} });
    await client.post('/v1/cdp/events', again);
    await client.post('/v1/cdp/events', { ...later, properties: {} });
    expect(await reviewEntries(client, '&eventType=purchase')).toHaveLength(3);
    expect(await sampleOf()).toEqual({
      checked: 2,
      pass: 1,
      fail: 1,
      reasons: [{ code: 'required', path: 'properties.amount', count: 1 }],
    });
  });

  it('knows no warnings, no other type, family or workspace', async () => {
    const stranger = (await aWorkspace(service)).admin;
    for (const by of [client, stranger]) {
      for (const eventType of ['purchase', 'refund']) await by.post(PATH, { ...PURCHASE, eventType });
    }
    await send({ occurredAt: '9999-01-01T00:00:00Z' });
    await send({ eventType: 'refund' });
    await send({ eventType: 'refund', properties: {} });
    await send({ properties: {} }, stranger);
    await send({}, stranger);
    await client.post('/v1/external-events', anExternalEvent());
    await client.post('/v1/external-events', anExternalEvent({ identity: {} }));
    expect((await reviewEntries(client)).map(({ reason }) => reason).sort()).toEqual([
      'clock_skew',
      'required',
      'required',
    ]);
    expect(await sampleOf()).toMatchObject({ checked: 1, pass: 1 });
  });

  it('is the newest 1,000 of stored and refused events together', async () => {
    await sendAll(600, { properties: {} });
    await client.post(PATH, PURCHASE);
    await sendAll(450);
    await sendAll(250, { properties: {} });
    expect(await sampleOf({ properties: { amount: { type: 'number' } } })).toMatchObject({
      checked: 1_000,
      pass: 1_000,
    });
    // The 300 oldest refusals are not among them.
    expect(await sampleOf()).toMatchObject({ checked: 1_000, pass: 450, fail: 550 });
  });

  it('passes over payloads that are no longer kept', async () => {
    await send();
    await send();
    await withClient(service.databaseUrl, async (database) => {
      const { rows } = await database.query('SELECT id FROM review_entries WHERE tenant_id = $1', [workspace.tenantId]);
      await database.query('UPDATE review_entries SET payload = NULL WHERE tenant_id = $1 AND id = $2', [
        workspace.tenantId,
        rows[0].id,
      ]);
    });
    expect(await sampleOf()).toMatchObject({ checked: 1, pass: 1 });
  });

  it('holds codes, names and numbers, and nothing that an event says', async () => {
    const secret = 'Zacharias-1234';
    await client.post(PATH, { ...PURCHASE, additionalProperties: 'allow' });
    const properties = { amount: 1, nickname: secret, 'jane@example.com': secret, deep: { [secret]: [secret] } };
    await send({ properties });
    await send({ properties: { ...properties, amount: secret } });
    await send({ identity: { email: secret }, properties });
    const { body } = await check({ properties: { nickname: { type: 'integer' } } });
    expect(body.sample).toMatchObject({ checked: 3, pass: 0, fail: 3 });
    expect(JSON.stringify(body)).not.toMatch(/Zacharias|jane@/);
    for (const reason of body.sample.reasons) expect(Object.keys(reason)).toEqual(['code', 'path', 'count']);
  });

  it('is answered for hostile events and the largest definition, with a bounded list of reasons', async () => {
    const nested = `${'['.repeat(60)}${']'.repeat(60)}`;
    const text = JSON.stringify(aCdpEvent()).replace('29.33', nested);
    await client.send('/v1/cdp/events', text);
    // As many as are parsed: of an event with more, nothing is known but that it has too many.
    const many = Object.fromEntries(Array.from({ length: 3_900 }, (_, n) => [`p${n}`, n]));
    await sendAll(20, { properties: many });
    await send({ properties: { amount: 'x'.repeat(200_000) } });
    const values = Array.from({ length: 100 }, (_, n) => n * 7);
    const largest = Object.fromEntries(
      Array.from({ length: 300 }, (_, n) => [`p${n}`, { type: 'integer', enum: values }]),
    );
    const { checked, pass, reasons } = await sampleOf({ properties: largest });
    // The long run of letters is hidden by views, which is why it is not judged: that event passes.
    expect([checked, pass, reasons.length <= 100]).toEqual([22, 1, true]);
  });
});

describe('of personal properties the sample', () => {
  const GUESSED = 'Zacharias';
  /** What a caller may say of a property to find out its value: right guesses, wrong ones, and nothing at all. */
  const GUESSES: readonly (object | undefined)[] = [
    undefined,
    { type: 'string' },
    { type: 'string', enum: [GUESSED] },
    { type: 'string', enum: [GUESSED], required: true },
    { type: 'string', enum: ['Balthasar'], required: true },
    { type: 'string', format: 'email' },
    { type: 'string', format: 'uuid', required: true },
    { type: 'integer' },
    { type: 'object', required: true },
  ];

  async function expectNothingTold(name: string, fields: object = {}, also: object = {}): Promise<void> {
    const samples = [];
    for (const guess of GUESSES) {
      const properties = { ...PURCHASE.properties, ...(guess === undefined ? {} : { [name]: { ...guess, ...also } }) };
      samples.push(await sampleOf({ ...fields, properties }));
    }
    expect(samples[0].checked).toBeGreaterThan(0);
    for (const sample of samples) expect(sample).toEqual(samples[0]);
    expect(JSON.stringify(samples)).not.toContain(name);
  }

  const nickname = { type: 'string', pii: true };
  const withNickname = { ...PURCHASE, properties: { ...PURCHASE.properties, nickname } };

  it('tells nothing when a version declares them, in events that have them and in others', async () => {
    await client.post(PATH, withNickname);
    await send({ properties: { amount: 1, nickname: GUESSED } });
    await send({ properties: { amount: 1 } });
    await send({ properties: { nickname: GUESSED } });
    await expectNothingTold('nickname');
    expect(await sampleOf()).toEqual({
      checked: 3,
      pass: 2,
      fail: 1,
      reasons: [{ code: 'required', path: 'properties.amount', count: 1 }],
    });
  });

  it('tells nothing when an older version declared them', async () => {
    await client.post(PATH, withNickname);
    await send({ properties: { amount: 1, nickname: GUESSED } });
    await client.post(PATH, { ...PURCHASE, force: true });
    await expectNothingTold('nickname');
  });

  it('tells nothing of events of a misspelt type that another type declares personal', async () => {
    await client.post(PATH, withNickname);
    const misspelt = 'purchse';
    await send({ eventType: misspelt, properties: { amount: 1, nickname: GUESSED } });
    await expectNothingTold('nickname', { eventType: misspelt });
    expect(await sampleOf({ eventType: misspelt })).toEqual({ checked: 1, pass: 1, fail: 0, reasons: [] });
  });

  it('tells nothing when the definition that is checked declares them', async () => {
    await send({ properties: { amount: 1, nickname: GUESSED } });
    expect(await sampleOf({ properties: { ...PURCHASE.properties, nickname: { type: 'integer' } } })).toMatchObject({
      fail: 1,
    });
    const declared = (fields: object) => ({ ...PURCHASE.properties, nickname: { ...nickname, ...fields } });
    for (const fields of [{}, { enum: [GUESSED] }, { enum: ['Balthasar'], required: true }]) {
      expect(await sampleOf({ properties: declared(fields) })).toEqual({ checked: 1, pass: 1, fail: 0, reasons: [] });
    }
  });

  it.each(['email', 'userEmail', 'contact', 'jane@example.com', 'external_user_id', 'identity'])(
    'tells nothing of what a name like %s says',
    async (name) => {
      await client.post(PATH, { ...PURCHASE, additionalProperties: 'allow' });
      await send({ properties: { amount: 1, [name]: GUESSED } });
      await send({ properties: { amount: 1 } });
      await expectNothingTold(name);
    },
  );

  it('tells nothing of values that are contact data, and judges the same property of other events', async () => {
    const note = 'jane.doe@example.com';
    await client.post(PATH, { ...PURCHASE, additionalProperties: 'allow' });
    await send({ properties: { amount: 1, note } });
    await send({ properties: { amount: 1, note: `call +49 170 1234567` } });
    for (const fields of [{ enum: [note] }, { enum: ['other'] }, { format: 'email', required: true }]) {
      const properties = { ...PURCHASE.properties, note: { type: 'string', ...fields } };
      expect(await sampleOf({ properties })).toEqual({ checked: 2, pass: 2, fail: 0, reasons: [] });
    }
    await send({ properties: { amount: 1, note: 'fragile' } });
    const properties = { ...PURCHASE.properties, note: { type: 'string', enum: ['other'] } };
    expect(await sampleOf({ properties })).toEqual({
      checked: 3,
      pass: 2,
      fail: 1,
      reasons: [{ code: 'enum', path: 'properties.note', count: 1 }],
    });
  });

  it('tells nothing of them in refused events: neither their form nor their size nor what lies inside them', async () => {
    await client.post(PATH, withNickname);
    const deep = JSON.parse(`${'{"a":'.repeat(12)}1${'}'.repeat(12)}`);
    const values = [
      GUESSED,
      deep,
      'x'.repeat(70_000),
      'a\u0000b',
      1e300,
      Array.from({ length: 400 }, (_, n) => ({ n })),
    ];
    for (const value of values) {
      await send({
        source: '',
        properties: { amount: 1, nickname: value, nested: { email: value, rows: [{ nickname: value }] } },
      });
    }
    await expectNothingTold('nickname', { additionalProperties: 'allow' });
    expect(await sampleOf({ additionalProperties: 'allow' })).toEqual({
      checked: values.length,
      pass: 0,
      fail: values.length,
      reasons: [{ code: expect.any(String), path: 'source', count: values.length }],
    });
  });

  it('is that of events whose personal properties are too many to be listed', async () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`email${n}`, GUESSED]));
    await client.post(PATH, { ...PURCHASE, additionalProperties: 'allow' });
    await send({ properties: { amount: 1, ...many } });
    expect(await sampleOf()).toEqual({ checked: 1, pass: 1, fail: 0, reasons: [] });
  });
});

describe('POST /v1/cdp/event-types:infer', () => {
  const infer = (eventType = 'purchase', by = client): Promise<Answer> => by.post(`${PATH}:infer`, { eventType });

  it('drafts a type from refused and stored events, and writes nothing', async () => {
    await send({ properties: { amount: 1, buyer: 'jane@example.com' } });
    await send({ properties: { amount: 2.5, coupon: 'A' } });
    expect((await infer()).body).toEqual({
      eventType: 'purchase',
      properties: {
        amount: { type: 'number', required: true },
        buyer: { type: 'string', format: 'email', pii: true },
        coupon: { type: 'string' },
      },
      stored: 0,
      refused: 2,
    });
    expect((await client.get(PATH)).body.items).toEqual([]);
    const { properties } = (await infer()).body;
    expect((await client.post(PATH, { eventType: 'purchase', properties })).status).toBe(201);
    expect((await send({ properties: { amount: 3 } })).status).toBe(202);
    expect((await infer()).body).toMatchObject({ stored: 1, refused: 2 });
  });

  it('reads only what the caller may read', async () => {
    await send({ properties: { a: 1 } });
    await client.post(PATH, { eventType: 'purchase', properties: { b: { type: 'number' } } });
    await send({ properties: { b: 1 } });
    const inferredBy = async (...scopes: ('event-types:read' | 'events:read' | 'review:read')[]) => {
      const { stored, refused, properties } = (await infer('purchase', await workspace.client({ scopes }))).body;
      return [stored, refused, Object.keys(properties)];
    };
    expect(await inferredBy('event-types:read')).toEqual([0, 0, []]);
    expect(await inferredBy('event-types:read', 'events:read')).toEqual([1, 0, ['b']]);
    expect(await inferredBy('event-types:read', 'review:read')).toEqual([0, 1, ['a']]);
    const reader = await workspace.client({ scopes: ['events:read', 'review:read'] });
    expectProblem(await infer('purchase', reader), 403, 'insufficient_scope');
    expect((await infer('purchase', (await aWorkspace(service)).admin)).body).toMatchObject({ stored: 0, refused: 0 });
  });

  it('reads the newest 400 events, also hostile ones, and refuses what is no name', async () => {
    await client.post(PATH, { eventType: 'purchase', properties: {}, additionalProperties: 'allow' });
    await sendAll(450, { properties: { late: 1 } });
    for (const properties of ['text', [1], null]) await send({ properties });
    await send({ properties: Object.fromEntries(Array.from({ length: 299 }, (_, n) => [`p${n}`, 'x'.repeat(100)])) });
    const { status, body } = await infer();
    expect(status).toBe(200);
    expect(Number(body.stored) + Number(body.refused)).toBeLessThanOrEqual(400);
    expect(body.stored).toBeGreaterThan(300);
    expect(body.properties).toMatchObject({ late: { type: 'integer' }, p1: { type: 'string' } });
    expectProblem(await infer('a b'), 422, 'validation_failed', ['eventType format']);
    expectProblem(await client.post(`${PATH}:infer`, {}), 422, 'validation_failed', ['eventType required']);
  });
});
