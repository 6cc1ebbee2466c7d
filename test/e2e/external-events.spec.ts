import { once } from 'node:events';
import { request as startRequest, type IncomingMessage } from 'node:http';
import { sharedApp, type SharedApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import {
  aClient,
  aWorkspace,
  Client,
  expectProblem,
  reviewEntries,
  storedEvent,
  theReviewEntry,
} from '../support/client';

const PATH = '/v1/external-events';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

describe('POST /v1/external-events', () => {
  it('accepts a new event with 202 and answers every repetition with 200 and the id of the first', async () => {
    const client = await aClient(service);
    const event = anExternalEvent();
    const first = await client.post(PATH, event);
    expect([first.status, first.body]).toEqual([202, { status: 'accepted', event_id: expect.stringMatching(/\S/) }]);
    for (const again of [await client.post(PATH, event), await client.post(PATH, event)]) {
      expect([again.status, again.body]).toEqual([
        200,
        { status: 'duplicate', original_event_id: first.body.event_id },
      ]);
    }
    expect((await client.get('/v1/events')).body.items).toHaveLength(1);
  });

  it('recognises a repetition whose JSON is ordered and spaced differently, without a warning', async () => {
    const client = await aClient(service);
    const event = anExternalEvent({ attributes: { a: 1, b: { c: 2, d: 3 } } });
    await client.post(PATH, event);
    const turned = Object.fromEntries(Object.entries({ ...event, attributes: { b: { d: 3, c: 2 }, a: 1 } }).reverse());
    const again = await client.send(PATH, JSON.stringify(turned, undefined, 4));
    expect(again.status).toBe(200);
    expect(await reviewEntries(client)).toEqual([]);
  });

  it('has stored the whole event when its answer arrives', async () => {
    const client = await aClient(service);
    const before = Date.now();
    const sent = anExternalEvent({
      identity: { type: 'EMAIL', value: 'jane@example.com' },
      attributes: { amount: 29.33, lines: [{ sku: 'a', gift: true, note: null }] },
    });
    const event = await storedEvent(client, await client.post(PATH, sent));
    expect(event).toEqual({
      eventId: expect.stringMatching(/\S/),
      family: 'external',
      source: 'shop.orders',
      externalEventId: sent['external_event_id'],
      eventType: 'purchase',
      eventTypeVersion: null,
      occurredAt: '2026-01-02T03:04:05.000Z',
      receivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      profileId: expect.stringMatching(UUID),
      identity: { type: 'EMAIL', value: 'j***@e***.com' },
      properties: sent['attributes'],
      processing: expect.objectContaining({ state: 'queued', attempts: 0, processedAt: null, lastError: null }),
    });
    expect(Date.parse(event.receivedAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(event.receivedAt)).toBeLessThanOrEqual(Date.now());
  });

  it('takes event types and attributes of any kind, since the client defines them', async () => {
    const client = await aClient(service);
    const sent = anExternalEvent({
      type: 'Größe geändert / v2',
      attributes: { '': 0, 'odd key': [[]], deep: { a: null } },
    });
    const event = await storedEvent(client, await client.post(PATH, sent));
    expect(event).toMatchObject({ eventType: sent['type'], properties: sent['attributes'] });
  });

  it.each([
    'EXTERNAL',
    'external',
    'External_User_Id',
    'EMAIL',
    'email',
    'PHONE',
    'Phone',
    'DEVICE',
    'device',
    'Device_Key',
  ])('takes the identity type %s', async (type) => {
    const client = await aClient(service);
    const values: Record<string, string> = { email: 'jane@example.com', phone: '+4915112345612' };
    const identity = { type, value: values[type.toLowerCase()] ?? 'customer-0001' };
    const answer = await client.post(PATH, anExternalEvent({ identity }));
    expect([answer.status, answer.body.status]).toEqual([202, 'accepted']);
  });

  it.each([
    [{ identity: {} }, ['identity.type required', 'identity.value required']],
    [{ identity: { value: 'customer-0001' } }, ['identity.type required']],
    [{ identity: { type: null, value: 'customer-0001' } }, ['identity.type required']],
    [{ identity: { type: 'EXTERNAL' } }, ['identity.value required']],
    [{ identity: { type: 'EXTERNAL', value: null } }, ['identity.value required']],
    [{ identity: { type: 'BOAT', value: 'customer-0001' } }, ['identity.type enum']],
    [{ identity: { type: 4711, value: 4711 } }, ['identity.type type', 'identity.value type']],
    [{ identity: { type: 'EXTERNAL', value: 'c-1', kind: 'x' } }, ['identity.kind unknown_field']],
    [
      { identity: { externalUserId: 'c-1' } },
      ['identity.type required', 'identity.value required', 'identity.externalUserId unknown_field'],
    ],
    [{ identity: { type: 'EMAIL', value: 'not an address' } }, ['identity.value format']],
    [{ identity: { type: 'PHONE', value: '+49' } }, ['identity.value invalid_phone']],
    [{ occurredAt: '2026-01-02T03:04:05Z' }, ['occurredAt unknown_field']],
    [{ properties: {} }, ['properties unknown_field']],
  ])('refuses %j and names every fault', async (fields, faults) => {
    const client = await aClient(service);
    expectProblem(await client.post(PATH, anExternalEvent(fields)), 422, 'validation_failed', faults);
    expect((await client.get('/v1/events')).body.items).toEqual([]);
  });

  it('names identity.type in the message when it is missing', async () => {
    const client = await aClient(service);
    const { body } = await client.post(PATH, anExternalEvent({ identity: { value: 'customer-0001' } }));
    expect(body.message).toContain('identity.type');
    expect(body.detail).toBe(body.message);
  });

  it('lists every fault of an event at once, not the first', async () => {
    const client = await aClient(service);
    const answer = await client.post(PATH, {
      external_event_id: 4711,
      type: '',
      occurred_at: '2026-01-02T03:04:05',
      identity: { type: 'EMAIL', value: 'nobody', extra: 1 },
      attributes: { text: '\u0000', many: { a: { b: { c: { d: { e: { f: { g: { h: 1 } } } } } } } } },
      colour: 'red',
    });
    expectProblem(answer, 422, 'validation_failed', [
      'source required',
      'external_event_id type',
      'type empty',
      'occurred_at missing_offset',
      'identity.value format',
      'identity.extra unknown_field',
      'attributes.text invalid_characters',
      'attributes too_deep',
      'colour unknown_field',
    ]);
  });

  it('never uses up the id of a refused event: the corrected one is accepted and closes the entry', async () => {
    const client = await aClient(service);
    const event = anExternalEvent();
    expectProblem(await client.post(PATH, { ...event, identity: {} }), 422, 'validation_failed');
    expect(await theReviewEntry(client)).toMatchObject({ status: 'open', externalEventId: event['external_event_id'] });
    const corrected = await client.post(PATH, event);
    expect(corrected.status).toBe(202);
    expect(await theReviewEntry(client)).toMatchObject({ status: 'superseded', eventId: corrected.body.event_id });
  });

  it('gives back the request id of a client that sent a sane one, and a fresh one otherwise', async () => {
    const client = await aClient(service);
    const send = (id: string, fields = {}) =>
      client.send(PATH, JSON.stringify(anExternalEvent(fields)), { headers: { 'x-request-id': id } });
    expect((await send('trace-4711')).headers.get('x-request-id')).toBe('trace-4711');
    const refused = await send('trace-4712', { identity: {} });
    expectProblem(refused, 422, 'validation_failed');
    expect(refused.body.request_id).toBe('trace-4712');
    for (const insane of ['<script>', 'x'.repeat(1_000), 'a b']) {
      const answer = await send(insane);
      expect(answer.status).toBe(202);
      expect(answer.headers.get('x-request-id')).toMatch(UUID);
    }
  });

  it('asks for the credential, then for the scope, before it looks at a body, and keeps nothing of either', async () => {
    const workspace = await aWorkspace(service);
    const callers = [
      new Client(service.url, undefined),
      await workspace.client({ scopes: ['cdp-events:write', 'events:read'] }),
    ];
    const [anonymous, ...others] = await Promise.all(
      callers.map((caller) =>
        Promise.all([
          caller.send(PATH, '{', {}),
          caller.send(PATH, 'x', { headers: { 'content-type': 'text/plain' } }),
          caller.send(PATH, 'x'.repeat(300 * 1024)),
          caller.post(PATH, {}),
          caller.post(`${PATH}?dry_run=banana`, {}),
        ]),
      ),
    );
    for (const answer of anonymous ?? []) {
      expectProblem(answer, 401, 'unauthenticated', []);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
    for (const answer of others.flat()) expectProblem(answer, 403, 'insufficient_scope', []);
    expect(await reviewEntries(workspace.admin)).toEqual([]);
  });

  it('matches its path letter for letter and its method alone', async () => {
    const client = await aClient(service);
    for (const path of ['/v1/external-eventsX', '/v1/External-events', '/v1/external-events/']) {
      expectProblem(await client.post(path, anExternalEvent()), 404, 'not_found');
    }
    const wrong = await client.get(PATH);
    expectProblem(wrong, 405, 'method_not_allowed');
    expect(wrong.headers.get('allow')).toBe('POST');
  });
});

describe('a body that arrives in several chunks', () => {
  /** The status of an event that is sent in these chunks, each of them a write of its own. */
  async function sendChunks(
    chunks: readonly string[],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<number> {
    const { url, key } = await aClient(service);
    const request = startRequest(`${url}/v1/external-events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    });
    for (const chunk of chunks) request.write(chunk);
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode ?? 0;
  }

  it('is read to its end, and what is behind an event is never left out', async () => {
    const event = JSON.stringify(anExternalEvent());
    expect(await sendChunks([event.slice(0, 20), event.slice(20, 40), event.slice(40)])).toBe(202);
    expect(await sendChunks([event, '{"junk":1}'])).toBe(400);
    for (const bytes of [64 * 1024 + 1, 100_000, 128 * 1024]) {
      const large = JSON.stringify(anExternalEvent()).padEnd(bytes, ' ');
      expect(await sendChunks([large], { 'content-length': String(bytes) })).toBe(202);
    }
  });
});
