import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../support/app';
import { aCdpEvent, anExternalEvent } from '../support/builders';
import { aClient, aReadyClient, type Client, expectProblem, reviewEntries } from '../support/client';

const LOOKUP = '/v1/cdp/profiles:lookup';
const PROFILES = '/v1/cdp/profiles';

let service: TestApp;

beforeAll(async () => {
  service = await startApp({ DEFAULT_PHONE_REGION: 'DE' });
});

afterAll(() => service.stop());

async function send(client: Client, identity: object, fields: object = {}): Promise<string> {
  const answer = await client.post('/v1/cdp/events', aCdpEvent({ identity, ...fields }));
  expect(answer.status).toBe(202);
  return answer.body.event_id;
}

/** The profile of this identifier, which must be known. */
async function profileOf(client: Client, type: string, value: string): Promise<any> {
  const { status, body } = await client.post(LOOKUP, { type, value });
  expect(status).toBe(200);
  return body;
}

describe('POST /v1/cdp/profiles:lookup', () => {
  it('finds a customer by each identifier, however it is spelt, and shows no identifier in the clear', async () => {
    const client = await aReadyClient(service);
    await send(
      client,
      { externalUserId: 'cust-0815', email: 'Jane@Example.com', phone: '0170 1234512', deviceKey: 'device-9' },
      { occurredAt: '2026-01-02T03:04:05Z' },
    );
    await send(client, { externalUserId: 'cust-0815' }, { occurredAt: '2025-06-07T08:09:10.011Z' });
    const spellings = [
      ['EXTERNAL', 'cust-0815'],
      ['external_user_id', ' cust-0815 '],
      ['Email', ' JANE@example.COM'],
      ['phone', '+49 (170) 12345-12'],
      ['PHONE', '0170 1234512'],
      ['device_key', 'device-9'],
      ['Device', 'device-9'],
    ] as const;
    for (const [type, value] of spellings) {
      expect(await profileOf(client, type, value)).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        identifiers: [
          { type: 'EXTERNAL', value: 'cu***' },
          { type: 'EMAIL', value: 'j***@e***.com' },
          { type: 'PHONE', value: '+49*******12' },
          { type: 'DEVICE', value: 'de***' },
        ],
        firstSeenAt: '2025-06-07T08:09:10.011Z',
        lastSeenAt: '2026-01-02T03:04:05.000Z',
        eventCount: 2,
        eventsExpired: 0,
        mergedFrom: [],
      });
    }
  });

  it.each([LOOKUP, `${PROFILES}:export`, `${PROFILES}:erase`, '/v1/cdp/erasures:lift'])(
    'names all faults of an identifier in one answer: %s',
    async (path) => {
      const client = await aClient(service);
      const refused = async (body: unknown, faults: readonly string[]) =>
        expectProblem(await client.post(path, body), 422, 'validation_failed', faults);
      await refused({ type: 'POST', value: ' ', kind: 1 }, [
        'kind unknown_field',
        'type enum',
        'value placeholder_identity',
      ]);
      await refused({ type: 5, value: 'x'.repeat(513) }, ['type type', 'value too_long']);
      await refused({ kind: 1 }, ['kind unknown_field', 'type required', 'value required']);
      await refused([], [' type']);
    },
  );

  it('answers 404 for whom nobody knows, for whom another workspace knows, and for a value of another kind', async () => {
    const [client, stranger] = [await aReadyClient(service), await aReadyClient(service)];
    await send(client, { externalUserId: 'cust-1', email: 'jane@example.com' });
    for (const body of [
      { type: 'EXTERNAL', value: 'cust-2' },
      { type: 'DEVICE', value: 'cust-1' },
      { type: 'EXTERNAL', value: 'CUST-1' },
    ]) {
      expectProblem(await client.post(LOOKUP, body), 404, 'not_found', []);
    }
    const known = { type: 'EXTERNAL', value: 'cust-1' };
    expectProblem(await stranger.post(LOOKUP, known), 404, 'not_found', []);
    expect((await client.post(LOOKUP, known)).status).toBe(200);
  });

  it.each([
    [{}, ['type required', 'value required']],
    [{ type: null, value: null }, ['type required', 'value required']],
    [{ type: 'EXTERNAL' }, ['value required']],
    [{ type: 'FAX', value: 'x1' }, ['type enum']],
    [{ type: 'EXTERNAL', value: ' ' }, ['value placeholder_identity']],
    [{ type: 'EXTERNAL', value: '' }, ['value placeholder_identity']],
    [{ type: 'EMAIL', value: 'jane' }, ['value format']],
    [{ type: 'PHONE', value: 'x' }, ['value invalid_phone']],
    [{ type: 'EXTERNAL', value: 'x'.repeat(257) }, ['value too_long']],
    [{ type: 'EXTERNAL', value: 'a\u0000b' }, ['value invalid_characters']],
    [{ type: 'EXTERNAL', value: 5 }, ['value type']],
    [{ type: 'EXTERNAL', value: 'x1', externalUserId: 'x' }, ['externalUserId unknown_field']],
  ])('refuses %j, names each fault, and keeps nothing of it in the review area', async (body, faults) => {
    const client = await aClient(service);
    expectProblem(await client.post(LOOKUP, body), 422, 'validation_failed', faults);
    expect(await reviewEntries(client)).toEqual([]);
  });
});

describe('GET /v1/cdp/profiles/{id}', () => {
  it('leads by the id of a merged profile to the surviving one, which has everything of both', async () => {
    const client = await aReadyClient(service);
    await send(client, { email: 'jane@example.com' }, { occurredAt: '2026-01-01T00:00:00Z' });
    await send(client, { externalUserId: 'cust-0815' }, { occurredAt: '2026-01-02T00:00:00Z' });
    const merged = (await profileOf(client, 'EMAIL', 'jane@example.com')).id;
    const surviving = (await profileOf(client, 'EXTERNAL', 'cust-0815')).id;
    expect(merged).not.toBe(surviving);
    await send(
      client,
      { externalUserId: 'cust-0815', email: 'jane@example.com' },
      { occurredAt: '2026-01-03T00:00:00Z' },
    );
    const both = await client.get(`${PROFILES}/${merged}`);
    expect([both.status, both.body]).toEqual([
      200,
      {
        id: surviving,
        identifiers: [
          { type: 'EXTERNAL', value: 'cu***' },
          { type: 'EMAIL', value: 'j***@e***.com' },
        ],
        firstSeenAt: '2026-01-01T00:00:00.000Z',
        lastSeenAt: '2026-01-03T00:00:00.000Z',
        eventCount: 3,
        eventsExpired: 0,
        mergedFrom: [merged],
      },
    ]);
    expect((await client.get(`${PROFILES}/${surviving}`)).body).toEqual(both.body);
    expect((await client.get(`${PROFILES}/${merged.toUpperCase()}`)).body).toEqual(both.body);
  });

  it('answers 404 for ids that nobody has, that are no ids, and that belong to another workspace', async () => {
    const [client, stranger] = [await aReadyClient(service), await aReadyClient(service)];
    await send(client, { externalUserId: 'cust-1' });
    const { id } = await profileOf(client, 'EXTERNAL', 'cust-1');
    for (const wrong of [randomUUID(), 'nobody', id]) {
      for (const path of [wrong, `${wrong}/events`]) {
        expectProblem(await stranger.get(`${PROFILES}/${path}`), 404, 'not_found', []);
      }
    }
  });

  it('counts an event once however often it is sent, and none that was refused', async () => {
    const client = await aReadyClient(service);
    const event = anExternalEvent({ identity: { type: 'EXTERNAL', value: 'cust-1' } });
    for (const status of [202, 200, 200]) {
      expect((await client.post('/v1/external-events', event)).status).toBe(status);
    }
    expect((await client.post('/v1/external-events', { ...event, external_event_id: 'x', type: '' })).status).toBe(422);
    expect((await profileOf(client, 'EXTERNAL', 'cust-1')).eventCount).toBe(1);
  });
});
