import { WebhookClient, type WebhookClientOptions } from '../../src/webhooks/delivery/webhook-client';
import { startHttpStub, type HttpStub } from '../support/http-stub';
import { selfSigned } from '../support/self-signed';

const LOOPBACK = [{ address: '127.0.0.1', family: 4 }];

let stub: HttpStub;
const clients: WebhookClient[] = [];

function aClient(options: Partial<WebhookClientOptions> = {}): WebhookClient {
  const client = new WebhookClient({ allowPrivate: true, resolve: () => Promise.resolve(LOOPBACK), ...options });
  clients.push(client);
  return client;
}

const callTo = (url: string) => ({ url, headers: {}, body: '{}' });
const answered = () => callTo(`http://127.0.0.1:${stub.port}/`);

beforeEach(async () => {
  stub = await startHttpStub((_request, response) => response.end('fine'));
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await stub.stop();
});

it.each([
  ['200', 200, 'delivered'],
  ['204', 204, 'delivered'],
  ['301', 301, 'refused_status'],
  ['307', 307, 'refused_status'],
  ['404', 404, 'refused_status'],
  ['503', 503, 'refused_status'],
])('counts the status %s, and follows no redirect', async (_name, status, outcome) => {
  stub.answer((_request, response) => {
    response.writeHead(status, { location: `http://127.0.0.1:${stub.port}/elsewhere` }).end();
  });
  expect(await aClient().post(answered())).toMatchObject({ outcome, status });
  expect(stub.requests).toHaveLength(1);
});

it('ends an attempt that takes too long, before or within the answer', async () => {
  const client = aClient({ timeMsMax: 300 });
  stub.answer(() => undefined);
  const silent = await client.post(answered());
  expect(silent).toMatchObject({ outcome: 'timed_out', status: null });
  expect(silent.durationMs).toBeLessThan(5_000);
  stub.answer((_request, response) => void response.writeHead(200).write('beginning'));
  expect(await client.post(answered())).toMatchObject({ outcome: 'delivered', status: 200, answer: 'beginning' });
});

it('reads the first 1,000 characters of an answer and no more', async () => {
  let sent = 0;
  stub.answer((_request, response) => {
    const more = (): void => {
      while (!response.destroyed && sent < 1e9) {
        sent += 65_536;
        if (!response.write('ü'.repeat(32_768))) return void response.once('drain', more);
      }
    };
    more();
  });
  const { answer, outcome } = await aClient().post(answered());
  expect({ length: answer.length, outcome }).toEqual({ length: 1_000, outcome: 'delivered' });
  expect(sent).toBeLessThan(1e8);
});

it('connects to no private address, by name or by number, whatever DNS said before', async () => {
  let address = '8.8.8.8';
  const asked: string[] = [];
  const resolve = (host: string) => {
    asked.push(host);
    return Promise.resolve([{ address, family: address.includes(':') ? 6 : 4 }]);
  };
  const identity = selfSigned('hooks.example.com');
  const server = await startHttpStub((_request, response) => response.end('fine'), identity);
  const call = callTo(`https://hooks.example.com:${server.port}/`);
  // Stands for a public address that the test can listen on.
  const client = aClient({ allowPrivate: false, resolve, isPublic: (each) => each === '127.0.0.1', ca: identity.cert });
  address = '127.0.0.1';
  expect(await client.post(call)).toMatchObject({ outcome: 'delivered' });
  // The name points elsewhere when the next connection is opened.
  const strict = aClient({ allowPrivate: false, resolve, ca: identity.cert });
  for (address of ['127.0.0.1', '10.0.0.1', '::1', '::ffff:127.0.0.1', 'fe80::1', '169.254.169.254']) {
    expect(await strict.post(call)).toMatchObject({ outcome: 'address_refused', status: null });
  }
  const before = asked.length;
  for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '10.1.2.3', 'localhost']) {
    const url = `https://${host}:${server.port}/`;
    expect(await strict.post(callTo(url))).toMatchObject({ outcome: 'address_refused' });
  }
  expect(asked).toHaveLength(before);
  expect(server.connections()).toBe(1);
  await server.stop();
});

it('refuses plain http and a certificate that nobody vouches for', async () => {
  const client = aClient({ allowPrivate: false, isPublic: () => true });
  expect(await client.post(callTo(`http://hooks.example.com:${stub.port}/`))).toMatchObject({
    outcome: 'address_refused',
  });
  const server = await startHttpStub((_request, response) => response.end('fine'), selfSigned('hooks.example.com'));
  expect(await client.post(callTo(`https://hooks.example.com:${server.port}/`))).toMatchObject({
    outcome: 'not_connected',
  });
  expect(server.requests).toHaveLength(0);
  await server.stop();
});

it('says that a name is unknown, and that nobody listens', async () => {
  const client = aClient({ resolve: () => Promise.reject(new Error('No such host')) });
  expect(await client.post(callTo('http://hooks.example.com/'))).toMatchObject({ outcome: 'not_resolved' });
  const closed = await startHttpStub(() => undefined);
  await closed.stop();
  expect(await aClient().post(callTo(`http://127.0.0.1:${closed.port}/`))).toMatchObject({ outcome: 'not_connected' });
});
