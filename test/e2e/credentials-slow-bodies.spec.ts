import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, type Client, type Workspace } from '../support/client';
import { FROM_CONSOLE, signedIn } from '../support/console';
import { campaignOf } from '../support/runtime';
import { anEd25519Signer, signatureOf } from '../support/signatures';
import { aTokenIssuer } from '../support/tokens';

const EVENTS = '/v1/external-events';

let service: TestApp;
let workspace: Workspace;
let admin: Client;

beforeAll(async () => {
  service = await startApp();
});

beforeEach(async () => {
  workspace = await aWorkspace(service);
  ({ admin } = workspace);
});

afterAll(() => service.stop());

type Headers = Readonly<Record<string, string>>;

/** Sends the head of a request, does `meanwhile` once the service has admitted it, and sends the body then. */
async function sentAround(
  target: string,
  headers: Headers,
  body: string,
  meanwhile: () => Promise<unknown>,
): Promise<unknown[]> {
  const length = Buffer.byteLength(body);
  const call = httpRequest(`${service.url}${target}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'content-length': length, expect: '100-continue' },
  });
  call.flushHeaders();
  const answered = once(call, 'response') as Promise<[IncomingMessage]>;
  // The service asks for the body when credential and scope have been checked.
  const isAsked = once(call, 'continue').then(() => true);
  expect(await Promise.race([isAsked, answered.then(() => false)])).toBe(true);
  await meanwhile();
  call.end(body);
  const [answer] = await answered;
  const { error_code: code } = (await json(answer)) as { error_code?: string };
  return [answer.statusCode, code];
}

const bearer = (credential: string): Headers => ({ authorization: `Bearer ${credential}` });
const accepted = async (): Promise<number> => (await admin.get('/v1/events')).body.items.length;

describe('a body that arrives after the credential of its request', () => {
  it('is taken while the credential is valid', async () => {
    const { key } = (await admin.post('/v1/api-keys', { name: 'shop', scopes: ['external-events:write'] })).body;
    const body = JSON.stringify(anExternalEvent());
    expect(await sentAround(EVENTS, bearer(key), body, () => Promise.resolve())).toEqual([202, undefined]);
  });

  it('is taken while the service credential that signed it is valid', async () => {
    const signer = await anEd25519Signer(admin);
    const body = JSON.stringify(anExternalEvent());
    const headers = signatureOf(signer, { target: EVENTS, body });
    expect(await sentAround(EVENTS, headers, body, () => Promise.resolve())).toEqual([202, undefined]);
  });

  it.each(['revoke', 'rotate'])('is refused behind :%s of the API key', async (action) => {
    const { apiKey, key } = (await admin.post('/v1/api-keys', { name: 'shop', scopes: ['external-events:write'] }))
      .body;
    const end = () => admin.send(`/v1/api-keys/${apiKey.id}:${action}`, undefined);
    const body = JSON.stringify(anExternalEvent());
    expect(await sentAround(EVENTS, bearer(key), body, end)).toEqual([401, 'api_key_revoked']);
    expect(await accepted()).toBe(0);
  });

  it('is refused behind the end of the service credential', async () => {
    const signer = await anEd25519Signer(admin);
    const end = () => admin.send(`/v1/service-credentials/${signer.keyId}:revoke`, undefined);
    const body = JSON.stringify(anExternalEvent());
    const headers = signatureOf(signer, { target: EVENTS, body });
    expect(await sentAround(EVENTS, headers, body, end)).toEqual([401, 'invalid_signature']);
    expect(await accepted()).toBe(0);
  });

  it('is refused behind the end of the issuer of the token', async () => {
    const issuer = await aTokenIssuer(admin);
    const campaign = campaignOf(workspace, issuer);
    await campaign.define('state.user.points', 'number');
    const end = () => admin.send(`/v1/jwt-issuers/${issuer.record.id}`, undefined, { method: 'DELETE' });
    const body = JSON.stringify({ ops: [{ path: 'state.user.points', op: 'inc', value: 1 }] });
    const path = `/v1/campaigns/${campaign.campaignId}/runtime/state:mutate`;
    expect(await sentAround(path, bearer(issuer.token()), body, end)).toEqual([401, 'invalid_token']);
  });

  it('is refused behind the end of the session of the console', async () => {
    const browser = await signedIn(service.url, admin.key!);
    const headers = { ...FROM_CONSOLE, cookie: browser.cookie! };
    const body = JSON.stringify(anExternalEvent());
    const end = () => browser.delete('/session');
    expect(await sentAround(`/console/api${EVENTS}`, headers, body, end)).toEqual([401, 'unauthenticated']);
    expect(await accepted()).toBe(0);
  });
});
