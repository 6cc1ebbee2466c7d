import { SCOPES } from '../../src/platform/auth/scopes';
import { sharedApp, type SharedApp } from '../support/app';
import { answered, Client } from '../support/client';
import { bearer, expectEntry, expectRefusals, expectRefusalsBeforeBody } from '../support/matrix';
import { operationsOf, type Operation } from '../support/operations';
import { backendMeans, REFUSED_BESIDE_KEYS, REFUSED_KEYS, type BackendMeans } from '../support/refused-keys';

/** Every operation for backends against everything that is no good API key; participants' and signatures have files of their own. */

let service: SharedApp;
let means: BackendMeans;
let operations: readonly Operation[];
let backend: readonly Operation[];
let keysOnly: readonly Operation[];

beforeAll(async () => {
  service = await sharedApp();
  means = await backendMeans(service);
  operations = await operationsOf(service.url);
  backend = operations.filter(({ callers }) => callers !== 'participant' && callers !== 'anybody');
  keysOnly = operations.filter(({ callers }) => callers === 'backend');
});

describe('every operation of the OpenAPI document', () => {
  it('says who may call it: backends by key, backends by key or signature, participants, or anybody', () => {
    expect(operations.filter(({ callers }) => callers === undefined)).toEqual([]);
    const callers = new Set(operations.map((operation) => operation.callers));
    expect(callers).toEqual(new Set(['backend', 'signing backend', 'participant', 'anybody']));
  });

  it('names the scope that it asks for if it is for backends, and none otherwise', () => {
    const odd = operations.filter((operation) => backend.includes(operation) !== (operation.scope !== undefined));
    expect(odd.map(({ name }) => name)).toEqual([]);
  });
});

describe('the operations for anybody', () => {
  it('are those that supervisors, load balancers and Prometheus ask, and answer whoever asks, with whatever credential', async () => {
    const open = operations.filter(({ callers }) => callers === 'anybody');
    expect(open.map(({ name }) => name).sort()).toEqual(['GET /health/live', 'GET /health/ready', 'GET /metrics']);
    for (const { path } of open) {
      for (const key of [undefined, 'nonsense']) {
        const client = new Client(service.url, key);
        expect((await answered(() => client.get(path))).status).toBe(200);
      }
    }
  });
});

describe('every operation for backends', () => {
  it.each(Object.entries(REFUSED_KEYS))('refuses %s', async (_name, column) => {
    await expectRefusals(service.url, means, backend, column);
  });

  it.each(Object.entries(REFUSED_KEYS))(
    'refuses it before a byte of the body has arrived: %s',
    async (_name, column) => {
      await expectRefusalsBeforeBody(service.url, means, backend, column);
    },
  );

  it.each(Object.entries(REFUSED_BESIDE_KEYS))('refuses %s, unless it says that it takes it', async (_name, column) => {
    await expectRefusals(service.url, means, keysOnly, column);
    await expectRefusalsBeforeBody(service.url, means, keysOnly, column);
  });

  it('lets in a key with just the scopes it takes', async () => {
    await expectEntry(service.url, backend, async ({ scope = 'admin', furtherScopes }) => {
      return bearer(await means.keyWith(scope, ...furtherScopes));
    });
  });

  it('lets in a key with admin alone', async () => {
    await expectEntry(service.url, backend, async () => bearer(await means.keyWith('admin')));
  });

  it('lets in a key with all scopes but admin', async () => {
    const key = await means.keyWith(...SCOPES.filter((scope) => scope !== 'admin'));
    const others = backend.filter(({ scope }) => scope !== 'admin');
    expect(others.length).toBeLessThan(backend.length);
    await expectEntry(service.url, others, () => bearer(key));
  });

  it.each(['bearer ', 'BEARER ', 'Bearer  '])('takes "%s" whether or not it remembers the key', async (start) => {
    const key = (await means.workspace.client({})).key!;
    const statusOf = async (scheme: string): Promise<number> => {
      const headers = { authorization: `${scheme}${key}` };
      return (await fetch(`${service.url}/v1/api-keys`, { headers })).status;
    };
    const unknown = await statusOf(start);
    expect(await statusOf('Bearer ')).toBe(200);
    expect(await statusOf(start)).toBe(unknown);
  });
});
