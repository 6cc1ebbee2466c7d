import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { anExternalEvent } from '../support/builders';
import { runCds, startCds, type RunningCds } from '../support/cds';
import { Client } from '../support/client';
import { freshDatabaseUrl } from '../support/database';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';
import { aTokenIssuer } from '../support/tokens';
import { until } from '../support/until';
import { aWebhook, numbersOf, startReceiver, type ReceivedCall, type Receiver } from '../support/webhooks';

const MS_MAX = 90_000;
const SIGNED = ['content-type', 'user-agent', 'webhook-id', 'webhook-signature', 'webhook-timestamp'];

let environment: Readonly<Record<string, string>>;
let service: ServiceProcess;
let client: Client;
let receiver: Receiver;

beforeAll(async () => {
  environment = {
    DATABASE_URL: await freshDatabaseUrl('listen'),
    SECRETS_KEY: 'listen-'.padEnd(40, 'x'),
    WEBHOOKS_ALLOW_PRIVATE: 'true',
    BOOTSTRAP_ADMIN_KEY: 'listen-admin-'.padEnd(40, 'x'),
  };
  service = await startServiceProcess(environment);
  client = new Client(service.url, service.adminKey);
}, MS_MAX);
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.stop());
afterAll(async () => {
  await service.stop();
}, MS_MAX);

interface Listening extends RunningCds {
  readonly secret: string;
  /** What it has written to standard output and standard error so far. */
  readonly written: () => string;
}

/** Once it forwards events. */
async function listen(args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Listening> {
  const url = `${receiver.url}/local`;
  const environmentOfCds = { CDS_API_KEY: service.adminKey, CDS_URL: service.url, ...more };
  const running = startCds(environmentOfCds, ['webhooks', 'listen', '--forward-to', url, ...args]);
  let written = '';
  for (const stream of [running.child.stdout, running.child.stderr]) {
    stream?.on('data', (chunk: Buffer) => (written += chunk.toString()));
  }
  await until(() => written.includes('Secret: '));
  const [, secret = ''] = /Secret: (\S+)/.exec(written) ?? [];
  return { ...running, secret, written: () => written };
}

async function send(n: number, fields: object = {}): Promise<string> {
  const identity = { type: 'EMAIL', value: 'jane@example.com' };
  const event = anExternalEvent({ identity, attributes: { n, phone: '+4917012345678' }, ...fields });
  const { status, body } = await client.post('/v1/external-events', event);
  expect(status).toBe(202);
  return body.event_id;
}

/** The command begins where the log is complete: usually a second ago. */
async function untilComplete(eventId: string): Promise<void> {
  const { receivedAt } = (await client.get(`/v1/events/${eventId}`)).body;
  await until(async () => (await client.get('/v1/events?order=asc&limit=1')).body.completeBefore > receivedAt);
}

const isLocal = ({ path }: ReceivedCall): boolean => path === '/local';
const headersOf = ({ headers }: ReceivedCall) => headers as Record<string, string>;

describe('cds webhooks listen', () => {
  it(
    'forwards new events of the types asked for as a webhook would, over a restart of the service, until Ctrl-C',
    async () => {
      const before = await send(0);
      await untilComplete(before);
      await aWebhook(client, `${receiver.url}/real`);
      const listening = await listen(['--event', 'purchase,signup']);
      expect(listening.secret).toMatch(/^whsec_/);
      const eventId = await send(1);
      await send(2, { type: 'login' });
      const [local] = await receiver.until(1, isLocal);
      const [real] = await receiver.until(1, ({ path }) => path === '/real');
      expect([local!.headers['webhook-id'], local!.text]).toEqual([eventId, real!.text]);
      expect(local!.text).not.toMatch(/jane|4917012345678/);
      for (const name of SIGNED) expect(typeof local!.headers[name]).toBe(typeof real!.headers[name]);
      expect(new Webhook(listening.secret).verify(local!.text, headersOf(local!))).toEqual(local!.body);
      expect(() => new Webhook(listening.secret).verify(`${local!.text} `, headersOf(local!))).toThrow();
      const { port } = new URL(service.url);
      await service.kill();
      await until(() => listening.written().includes('Trying again.'));
      service = await startServiceProcess({ ...environment, PORT: port });
      receiver.answer(() => ({ status: 500 }));
      await send(3, { type: 'signup' });
      await receiver.until(2, isLocal);
      receiver.answer(() => ({ status: 204 }));
      await send(4);
      await receiver.until(3, isLocal);
      expect(numbersOf(receiver.calls.filter(isLocal))).toEqual([1, 3, 4]);
      await until(() => /purchase {2}\S+ {2}204[^]*signup {2}\S+ {2}500[^]*204/.test(listening.written()));
      listening.child.kill('SIGINT');
      const { code, out, said } = await listening.ended;
      expect([code, out.split('\n').length]).toEqual([0, 3]);
      expect(said).toContain('Ended. 2 calls were taken with a status of 2xx, 1 were not.');
    },
    MS_MAX,
  );

  it(
    'prints bodies, shows personal data when asked to, and keeps a secret that it was given',
    async () => {
      const { secret } = await aWebhook(client, `${receiver.url}/other`, { events: [{ eventType: 'nothing' }] });
      const listening = await listen(['--unmask', '--print-json', '--event', 'signup'], { CDS_WEBHOOK_SECRET: secret });
      expect(listening.secret).toBe(secret);
      await send(1, { type: 'signup' });
      const [call] = await receiver.until(1, isLocal);
      expect(call!.body.data.identity).toEqual({ type: 'EMAIL', value: 'jane@example.com' });
      new Webhook(secret).verify(call!.text, headersOf(call!));
      await until(() => listening.written().includes('204'));
      listening.child.kill('SIGINT');
      const { code, out, said } = await listening.ended;
      expect([code, out]).toEqual([0, call!.text]);
      expect(said).toMatch(/signup {2}\S+ {2}204 {2}\d+ ms/);
    },
    MS_MAX,
  );

  it(
    'forwards changes of values as a webhook would, each once, in their order',
    async () => {
      const campaign = '/v1/campaigns/listened';
      await client.post(`${campaign}/variables:define`, { scope: 'user', name: 'points', type: 'number', default: 0 });
      await client.post(`${campaign}/variables:define`, {
        scope: 'campaign',
        name: 'stock',
        type: 'number',
        default: 9,
      });
      const events = [{ change: { scope: 'user', name: 'points' } }, { change: { scope: 'campaign', name: 'stock' } }];
      await aWebhook(client, `${receiver.url}/real`, { events });
      const listening = await listen([
        ...['--event', 'nothing', '--changes', 'listened/participants/jane@example.com'],
        ...['--changes', 'listened/campaign/stock'],
      ]);
      const change = (path: string, value: number) =>
        client.post(`${campaign}/participants/jane@example.com/state:mutate`, { ops: [{ path, op: 'inc', value }] });
      for (const value of [1, 2, 3]) expect((await change('state.user.points', value)).status).toBe(200);
      expect((await change('state.campaign.stock', -1)).status).toBe(200);
      const sub = randomUUID();
      const participant = (await aTokenIssuer(client)).participant({ sub, campaign_id: 'listened' });
      const ops = [{ path: 'state.campaign.stock', op: 'inc', value: -1 }];
      expect((await participant.post('/v1/runtime/state:mutate', { ops })).status).toBe(200);
      const isReal = ({ path }: ReceivedCall): boolean => path === '/real';
      await receiver.until(5, isLocal);
      await receiver.until(5, isReal);
      const bodiesOf = (fits: (call: ReceivedCall) => boolean, name: string) =>
        receiver.calls
          .filter((call) => fits(call) && call.body.data.name === name)
          .map(({ body: { data, ...rest } }) => ({ ...rest, data: { ...data, changeId: undefined } }));
      expect(bodiesOf(isLocal, 'points')).toEqual(bodiesOf(isReal, 'points'));
      // Who changed it may be a key or a participant, and a participant may be named by a UUID: it is masked in any case.
      const [byKey, byParticipant] = bodiesOf(isReal, 'stock');
      const { cause } = byKey!.data;
      const masked = {
        ...byKey,
        data: { ...byKey!.data, cause: { ...cause, actor: `${cause.actor.slice(0, 2)}***` } },
      };
      expect(bodiesOf(isLocal, 'stock')).toEqual([masked, byParticipant]);
      expect(JSON.stringify(bodiesOf(isLocal, 'stock'))).not.toContain(sub);
      expect(bodiesOf(isLocal, 'points').map(({ data }) => data.current)).toEqual([1, 3, 6]);
      expect(JSON.stringify(bodiesOf(isLocal, 'points'))).not.toContain('jane');
      listening.child.kill('SIGINT');
      expect((await listening.ended).said).toContain('Ended. 5 calls were taken');
    },
    MS_MAX,
  );

  it('says what is wrong with a key, a secret or an address', async () => {
    const run = (more: Readonly<Record<string, string>>) =>
      runCds({ CDS_URL: service.url, ...more }, ['webhooks', 'listen', '--forward-to', receiver.url]);
    const { body } = await client.post('/v1/api-keys', { name: 'other', scopes: ['webhooks:read'] });
    const refused = await run({ CDS_API_KEY: body.key });
    expect([refused.code, refused.out]).toEqual([1, '']);
    expect(refused.said).toContain('events:read');
    const invalid = await run({ CDS_API_KEY: service.adminKey, CDS_WEBHOOK_SECRET: 'secret' });
    expect([invalid.code, invalid.said]).toEqual([2, expect.stringContaining('CDS_WEBHOOK_SECRET')]);
    expect((await run({})).code).toBe(2);
  });
});
