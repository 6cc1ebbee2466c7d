import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, type Client } from '../support/client';
import { FROM_CONSOLE, signedIn } from '../support/console';
import { until } from '../support/until';

/** Together more than the systems of both ends hold for a reader that does not read. */
const BATCHES = 6;
const EVENTS_PER_BATCH = 75;
const ATTRIBUTES_BYTES = 60_000;
const EVENTS = BATCHES * EVENTS_PER_BATCH;
/** Within which an ended credential is refused everywhere (contract section 2). */
const REFUSED_WITHIN_MS = 1_000;
const IDENTITY = { type: 'EXTERNAL', value: 'jane' };

let service: TestApp;
let admin: Client;
let profileId: string;

beforeAll(async () => {
  service = await startApp();
  ({ admin } = await aWorkspace(service));
  const attributes = { text: 'x'.repeat(ATTRIBUTES_BYTES) };
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const items = Array.from({ length: EVENTS_PER_BATCH }, () => anExternalEvent({ identity: IDENTITY, attributes }));
    expect((await admin.post('/v1/external-events:batch', { items })).status).toBe(200);
  }
  profileId = (await admin.post('/v1/cdp/profiles:lookup', IDENTITY)).body.id;
});

afterAll(() => service.stop());

type Headers = Readonly<Record<string, string>>;

/** Begins an export, does `meanwhile` before reading on, and tells how many events came and whether it came to its end. */
async function exportedAround(path: string, headers: Headers, meanwhile: () => Promise<unknown>) {
  const call = httpRequest(`${service.url}${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
  });
  call.end(path.endsWith('profiles:export') ? JSON.stringify(IDENTITY) : '{}');
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  expect(answer.statusCode).toBe(200);
  await meanwhile();
  let text = '';
  let isWhole = true;
  try {
    for await (const chunk of answer) text += String(chunk);
  } catch {
    isWhole = false;
  }
  return { events: text.match(/"record":"event"/g)?.length ?? 0, isWhole };
}

/** Ends a credential, and waits until it is refused everywhere. */
async function ended(end: () => Promise<unknown>): Promise<void> {
  await end();
  const endedAt = performance.now();
  await until(() => performance.now() - endedAt > REFUSED_WITHIN_MS);
}

const bearer = (key: string): Headers => ({ authorization: `Bearer ${key}` });

async function aReadingKey(): Promise<{ key: string; id: string }> {
  const scopes = ['profiles:read', 'pii:read'];
  const { apiKey, key } = (await admin.post('/v1/api-keys', { name: 'shop', scopes })).body;
  return { key, id: apiKey.id };
}

describe('an answer that is read slowly', () => {
  it('comes to its end while the credential is valid', async () => {
    const { key } = await aReadingKey();
    const path = `/v1/cdp/profiles/${profileId}:export`;
    const exported = await exportedAround(path, bearer(key), () => ended(() => Promise.resolve()));
    expect(exported).toEqual({ events: EVENTS, isWhole: true });
  });

  it.each([
    ['revoke', '/v1/cdp/profiles:export'],
    ['rotate', '/v1/cdp/profiles/{id}:export'],
  ])('breaks off behind :%s of the API key', async (action, route) => {
    const { key, id } = await aReadingKey();
    const end = () => admin.post(`/v1/api-keys/${id}:${action}`, {});
    const path = route.replace('{id}', profileId);
    const { events, isWhole } = await exportedAround(path, bearer(key), () => ended(end));
    expect(isWhole).toBe(false);
    expect(events).toBeLessThan(EVENTS);
  });

  it('breaks off behind the end of the session of the console', async () => {
    const browser = await signedIn(service.url, admin.key!);
    const headers = { ...FROM_CONSOLE, cookie: browser.cookie! };
    const end = () => browser.delete('/session');
    const path = `/console/api/v1/cdp/profiles/${profileId}:export`;
    const { events, isWhole } = await exportedAround(path, headers, () => ended(end));
    expect(isWhole).toBe(false);
    expect(events).toBeLessThan(EVENTS);
  });
});
