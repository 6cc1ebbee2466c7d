import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, anExternalEvent, INGEST_FAMILIES, registerTypes } from '../support/builders';
import { aWorkspace, type Answer, type Client, expectProblem, theReviewEntry, type Workspace } from '../support/client';
import { rowsOf } from '../support/database';

const TYPE = {
  eventType: 'anything',
  properties: { nickname: { type: 'string', pii: true }, codes: { type: 'array', pii: true } },
  additionalProperties: 'allow',
};

/** Personal data in every form that a view hides. */
const PROPERTIES = {
  nickname: 'Annie',
  codes: [7, 8],
  email: 'anna@example.com',
  phone: 491701234567,
  contact: { room: 12 },
  note: 'call +49 170 1234567 or a.b@example.org',
  people: [{ workEmail: 'bert@example.com' }, 'carla@example.com'],
  'dora@example.com': { shown: 'text' },
  'emil@example.com': 1,
  card: '**** **** 1234',
};

let service: SharedApp;
let workspace: Workspace;
/** May correct entries, and may not see personal data. */
let operator: Client;

beforeAll(async () => {
  service = await sharedApp();
});

beforeEach(async () => {
  workspace = await aWorkspace(service);
  await registerTypes(workspace.admin, [TYPE]);
  operator = await workspace.client({
    scopes: ['review:read', 'review:write', 'external-events:write', 'cdp-events:write'],
  });
});

const correct = (id: string, payload: object): Promise<Answer> =>
  operator.post(`/v1/review-entries/${id}:replay`, { payload });

const entryOf = async (source: string): Promise<any> =>
  (await operator.get(`/v1/review-entries?source=${source}`)).body.items[0];

const eventsOf = async (): Promise<any[]> => (await workspace.admin.get('/v1/events?unmask=true')).body.items;

/** A refused external event: its type is missing. */
async function aRefusedEvent(fields: Record<string, unknown> = {}): Promise<any> {
  const event = anExternalEvent({ identity: { type: 'EXTERNAL', value: 'customer-77' }, ...fields });
  expect((await workspace.admin.post('/v1/external-events', { ...event, type: undefined })).status).toBe(422);
  return theReviewEntry(operator);
}

describe('a correction by a caller who may not see personal data', () => {
  it.each(INGEST_FAMILIES)('keeps what it leaves masked in an event of the $family family', async (ingest) => {
    const { admin } = workspace;
    const identities = ['customer-77', 'customer-88'].map((value) => ingest.anIdentity('EXTERNAL', value));
    for (const [index, identity] of identities.entries()) {
      const fields = { source: `shop.${index}`, identity, [ingest.type]: 'anything', [ingest.time]: 'yesterday' };
      const event = ingest.anEventWith(PROPERTIES, fields);
      expect((await admin.post(ingest.path, event)).status).toBe(422);
      const { id, payload } = await entryOf(`shop.${index}`);
      expect(JSON.stringify(payload)).not.toMatch(/customer|anna|bert|carla|dora|emil|Annie|1234567/);
      const { body } = await correct(id, { ...payload, [ingest.time]: '2026-01-02T03:04:05Z' });
      expect(body.outcome.status).toBe('accepted');
    }
    const events = await eventsOf();
    expect(events.map(({ identity }) => identity)).toEqual(identities.toReversed());
    expect(events.map(({ properties }) => properties)).toEqual([PROPERTIES, PROPERTIES]);
    expect(new Set(events.map(({ profileId }) => profileId)).size).toBe(2);
    const lookup = (value: string) => admin.post('/v1/cdp/profiles:lookup', { type: 'EXTERNAL', value });
    expect((await lookup('customer-77')).body.id).toBe(events[1].profileId);
    expect((await lookup('cu***')).status).toBe(404);
  });

  it('replaces what it changes, also where a view masks it', async () => {
    const { id, payload } = await aRefusedEvent({ attributes: PROPERTIES });
    const identity = { type: 'EMAIL', value: 'frida@example.com' };
    const attributes = { ...payload.attributes, email: 'gerd@example.com', note: 'stars: *** and ****', people: [] };
    const { body } = await correct(id, { ...payload, type: 'anything', identity, attributes });
    expect(body.outcome.status).toBe('accepted');
    const changed = { email: 'gerd@example.com', note: 'stars: *** and ****', people: [] };
    expect(await eventsOf()).toMatchObject([{ identity, properties: { ...PROPERTIES, ...changed } }]);
  });

  it.each(INGEST_FAMILIES)('puts nothing into an event of another $family type that shows it', async (ingest) => {
    const { admin } = workspace;
    await registerTypes(admin, [{ eventType: 'other', properties: {}, additionalProperties: 'allow' }]);
    const fields = { [ingest.type]: 'anything', [ingest.time]: 'yesterday' };
    const properties = { nickname: 'Annie', email: 'anna@example.com' };
    expect((await admin.post(ingest.path, ingest.anEventWith(properties, fields))).status).toBe(422);
    const { id, payload } = await theReviewEntry(operator);
    const corrected = { ...payload, [ingest.time]: '2026-01-02T03:04:05Z' };
    expectProblem(await correct(id, { ...corrected, [ingest.type]: 'other' }), 422, 'validation_failed', [
      `payload.${ingest.properties}.nickname masked_value`,
    ]);
    for (const type of ['a\u0000', 'x'.repeat(200)]) {
      expect((await correct(id, { ...corrected, [ingest.type]: type })).body.outcome.status).toBe('error');
    }
    expect((await correct(id, corrected)).body.outcome.status).toBe('accepted');
    expect((await eventsOf()).map((event) => event.properties)).toEqual([properties]);
  });

  it('keeps the values of an event that has a list of items before them', async () => {
    await workspace.admin.post('/v1/external-events', { items: [{}], 'anna@example.com': 1, ...anExternalEvent() });
    const { id, payload } = await theReviewEntry(operator);
    const { items, 'a***@e***.com': other, ...event } = payload;
    expect([items, other]).toEqual([[{}], '***']);
    expect((await correct(id, event)).body.outcome.status).toBe('accepted');
    expect((await eventsOf())[0].identity.value).toMatch(/^customer-/);
  });

  it('keeps what it leaves masked beside numbers that JSON does not keep, which the view shows as they were sent', async () => {
    const attributes = { nickname: 'Annie', email: 'anna@example.com', low: 1, tiny: [2, 0.5], huge: 3, amount: 29.33 };
    const event = anExternalEvent({
      type: 'anything',
      identity: { type: 'EXTERNAL', value: 'customer-77' },
      attributes,
    });
    const numbers = '"low":-12345678901234567890,"tiny":[1e-400,0.5],"huge":1e999';
    const text = JSON.stringify(event).replace('"low":1,"tiny":[2,0.5],"huge":3', numbers);
    expect((await workspace.admin.send('/v1/external-events', text)).status).toBe(422);
    const { id, payload } = await theReviewEntry(operator);
    expect(payload).toContain(numbers);
    expect(payload).not.toMatch(/customer-77|Annie|anna@/);
    const shown = JSON.parse(payload);
    const corrected = { ...shown, attributes: { ...shown.attributes, low: 'text', tiny: [0, 0.5], huge: 7 } };
    expect((await correct(id, corrected)).body.outcome.status).toBe('accepted');
    expect(await eventsOf()).toMatchObject([
      { identity: { value: 'customer-77' }, properties: { ...attributes, low: 'text', tiny: [0, 0.5], huge: 7 } },
    ]);
  });

  it('is refused with a mask where its view has none, and the event id stays free', async () => {
    const { id, payload } = await aRefusedEvent({ attributes: PROPERTIES });
    const { value } = payload.identity;
    const people = [...payload.attributes.people];
    const cases: [object, string][] = [
      [{ identity: { type: 'EXTERNAL', value: 'ab***' } }, 'payload.identity.value'],
      [{ identity: { type: 'EXTERNAL', value: payload.attributes.email } }, 'payload.identity.value'],
      [{ attributes: { ...payload.attributes, mail: value } }, 'payload.attributes.mail'],
      [{ attributes: { ...payload.attributes, people: people.slice(1) } }, 'payload.attributes.people[0]'],
      [{ attributes: { ...payload.attributes, 'x***@e***.com': 1 } }, 'payload.attributes["x***@e***.com"]'],
    ];
    for (const [fields, path] of cases) {
      const answer = await correct(id, { ...payload, type: 'anything', ...fields });
      expectProblem(answer, 422, 'validation_failed', [`${path} masked_value`]);
    }
    expect(await theReviewEntry(operator)).toMatchObject({ status: 'open', occurrences: 1, resolution: null });
    expect(await eventsOf()).toEqual([]);
    expect((await correct(id, { ...payload, type: 'anything' })).body.outcome.status).toBe('accepted');
  });

  it.each(INGEST_FAMILIES)('gives an event of the $family family without a type none that shows it', async (ingest) => {
    await registerTypes(workspace.admin, [{ eventType: 'other', properties: {}, additionalProperties: 'allow' }]);
    const properties = { nickname: 'Annie', email: 'anna@example.com' };
    const event = ingest.anEventWith(properties, { [ingest.type]: undefined });
    expect((await workspace.admin.post(ingest.path, event)).status).toBe(422);
    const { id, payload } = await theReviewEntry(operator);
    expectProblem(await correct(id, { ...payload, [ingest.type]: 'other' }), 422, 'validation_failed', [
      `payload.${ingest.properties}.nickname masked_value`,
    ]);
    expect((await correct(id, { ...payload, [ingest.type]: 'anything' })).body.outcome.status).toBe('accepted');
    expect((await eventsOf()).map((each) => each.properties)).toEqual([properties]);
  });

  it('keeps what is masked in an event whose type is misspelt', async () => {
    const properties = { nickname: 'Annie', codes: [7, 8], amount: 1 };
    await workspace.admin.post('/v1/cdp/events', aCdpEvent({ eventType: 'anythin', properties }));
    const { id, payload } = await theReviewEntry(operator);
    expect(payload.properties).toEqual({ nickname: 'An***', codes: '***', amount: 1 });
    const again = await correct(id, payload);
    expect(again.body.outcome).toMatchObject({ status: 'error', error_code: 'validation_failed' });
    expect((await correct(id, { ...payload, eventType: 'anything' })).body.outcome.status).toBe('accepted');
    expect((await eventsOf()).map((each) => each.properties)).toEqual([properties]);
  });

  it('is refused with a mask where the payload is removed, no JSON, or a whole batch', async () => {
    const { id, payload } = await aRefusedEvent();
    await rowsOf(service.databaseUrl, 'UPDATE review_entries SET payload = NULL WHERE tenant_id = $1 AND id = $2', [
      ...[workspace.tenantId, id],
    ]);
    const masked = { ...payload, type: 'purchase' };
    expectProblem(await correct(id, masked), 422, 'validation_failed', ['payload.identity.value masked_value']);
    await workspace.admin.send('/v1/external-events', JSON.stringify(anExternalEvent()).slice(0, -1));
    await workspace.admin.post('/v1/external-events:batch', { items: [anExternalEvent()], colour: 'red' });
    const entries = (await operator.get('/v1/review-entries')).body.items;
    expect(entries).toHaveLength(3);
    for (const entry of entries) {
      expectProblem(await correct(entry.id, masked), 422, 'validation_failed', ['payload.identity.value masked_value']);
    }
    expect(await eventsOf()).toEqual([]);
  });
});
