import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { SETTINGS } from '../../src/platform/config/env';
import { BootstrapService } from '../../src/workspaces/bootstrap.service';
import type { FirstKey } from '../../src/workspaces/workspaces.service';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { Client, type Answer } from '../support/client';
import { freshDatabaseUrl, rowsOf } from '../support/database';

const MAIN = join(__dirname, '..', '..', 'dist', 'main.js');
const START_MS_MAX = 30_000;
/** Contract section 2: after this long no node takes a replaced key. */
const REFUSED_MS_MAX = 1_000;
const OLD = 'the-first-bootstrap-key-of-a-test-000001';
const NEW = 'the-second-bootstrap-key-of-a-test-00002';
const OTHERS = 'the-bootstrap-key-of-another-workspace-3';

let databaseUrl: string;
const running: TestApp[] = [];

beforeEach(async () => {
  databaseUrl = await freshDatabaseUrl('bootstrap');
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((app) => app.stop()));
});

interface Node {
  readonly url: string;
  readonly firstKey: FirstKey | undefined;
}

async function boot(key?: string, workspace?: string): Promise<TestApp> {
  const app = await startApp(
    {
      ...(key === undefined ? {} : { BOOTSTRAP_ADMIN_KEY: key }),
      ...(workspace === undefined ? {} : { BOOTSTRAP_WORKSPACE: workspace }),
    },
    databaseUrl,
  );
  running.push(app);
  return app;
}

const runOn = async ({ url, app }: TestApp): Promise<Node> => ({
  url,
  firstKey: await app.get(BootstrapService).run(),
});

/** Starts a node in this process, as `startService` does. */
const start = async (key?: string, workspace?: string): Promise<Node> => runOn(await boot(key, workspace));

/** Nodes that come to the point at the same moment: all of them have booted before. */
async function startAtOnce(...keys: (string | undefined)[]): Promise<Node[]> {
  const apps = await Promise.all(keys.map((key) => boot(key)));
  return Promise.all(apps.map(runOn));
}

const list = ({ url }: Node, key: string): Promise<Answer> => new Client(url, key).get('/v1/events');
const statusOf = async (node: Node, key: string): Promise<number> => (await list(node, key)).status;
/** Whether the key may do what only `admin` may: hand on `admin`. */
const isAdmin = async ({ url }: Node, key: string): Promise<boolean> =>
  (await new Client(url, key).post('/v1/api-keys', { name: 'another admin', scopes: ['admin'] })).status === 201;

function rows(sql: string): Promise<any[]> {
  return rowsOf(databaseUrl, sql);
}

const workspaces = async (): Promise<string[]> =>
  (await rows('SELECT name FROM workspaces ORDER BY name')).map(({ name }) => name);

describe('BOOTSTRAP_ADMIN_KEY', () => {
  it('is an admin key of the workspace default, and is stored as a hash only', async () => {
    const node = await start(OLD);
    expect(node.firstKey).toBeUndefined();
    const [row] = await rows('SELECT row_to_json(k)::text AS text, k.* FROM api_keys k');
    expect(row).toMatchObject({ scopes: ['admin'], sources: null, expires_at: null, created_by: 'bootstrap' });
    expect(row.text).not.toContain(OLD.slice(8, -4));
    expect(await isAdmin(node, OLD)).toBe(true);
    expect(await workspaces()).toEqual(['default']);
  });

  it('makes one key, however often and on however many nodes at once the service starts', async () => {
    const nodes = await startAtOnce(OLD, OLD, OLD);
    nodes.push(await start(OLD));
    for (const node of nodes) expect(await statusOf(node, OLD)).toBe(200);
    expect(await rows('SELECT name FROM api_keys')).toHaveLength(1);
    expect(await rows('SELECT action FROM api_key_audit')).toEqual([{ action: 'created' }]);
    expect(await workspaces()).toEqual(['default']);
  });

  it.each([
    ['32 signs', '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'],
    ['200 characters', '~'.repeat(200)],
    ['the look of a key of ours', `cds_${'A'.repeat(38)}`],
    ['the look of a JWT', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.'],
  ])('may be of %s, unless the start says that it may not', async (_name, key) => {
    const outcome = await start(key).then((node) => statusOf(node, key), String);
    expect(String(outcome)).toMatch(/^200$|^Error: Bad settings: BOOTSTRAP_ADMIN_KEY must /);
  });

  it('replaces the value before it: at once here, within a second on a node that remembers the old one', async () => {
    const before = await start(OLD);
    await new Client(before.url, OLD).post('/v1/external-events', anExternalEvent());
    const { key: issued } = (
      await new Client(before.url, OLD).post('/v1/api-keys', { name: 'x', scopes: ['events:read'] })
    ).body;
    expect(await statusOf(before, OLD)).toBe(200);

    const after = await start(NEW);
    const replacedAt = performance.now();
    expect([await statusOf(after, OLD), await statusOf(after, NEW)]).toEqual([401, 200]);
    for (;;) {
      const askedMs = Math.round(performance.now() - replacedAt);
      if ((await statusOf(before, OLD)) === 401) break;
      const words = `taken ${askedMs} ms after it was replaced`;
      expect([words, askedMs <= REFUSED_MS_MAX]).toEqual([words, true]);
      await wait(10);
    }
    expect((await list(before, OLD)).body.error_code).toBe('api_key_revoked');
    expect((await list(before, NEW)).body.items).toHaveLength(1);
    expect(await statusOf(after, issued)).toBe(200);
    expect(await rows(`SELECT action FROM api_key_audit WHERE action = 'revoked' AND by = 'bootstrap'`)).toHaveLength(
      1,
    );
  });

  it('is replaced by the next value also when the service has made it', async () => {
    const { firstKey } = await start();
    const admin = firstKey!.key;
    expect(await statusOf(await start(admin), admin)).toBe(200);
    const second = await start(OLD);
    expect([await statusOf(second, admin), await statusOf(second, OLD)]).toEqual([401, 200]);
    const third = await start(NEW);
    const statuses = [];
    for (const key of [admin, OLD, NEW]) statuses.push(await statusOf(third, key));
    expect(statuses).toEqual([401, 401, 200]);
    expect((await list(third, admin)).body.error_code).toBe('api_key_revoked');
  });

  it('leaves one key in force when two nodes start at once with two values', async () => {
    await startAtOnce(OLD, NEW);
    expect(await rows('SELECT hint FROM api_keys WHERE revoked_at IS NULL')).toHaveLength(1);
  });

  it('is not revived once it was replaced, and does not replace its successor', async () => {
    await start(OLD);
    await start(NEW);
    const node = await start(OLD);
    expect([await statusOf(node, OLD), await statusOf(node, NEW)]).toEqual([401, 200]);
  });

  it('is not revived once somebody revoked it', async () => {
    await start(OLD);
    await rows('UPDATE api_keys SET revoked_at = now()');
    expect(await statusOf(await start(OLD), OLD)).toBe(401);
  });

  it('never leaves a workspace without an admin, also when it is a key with fewer scopes', async () => {
    const node = await start(OLD);
    const { key } = (await new Client(node.url, OLD).post('/v1/api-keys', { name: 'x', scopes: ['events:read'] })).body;
    const again = await start(key).catch(() => node);
    expect([await isAdmin(again, OLD), await isAdmin(again, key)]).toContain(true);
  });
});

describe('BOOTSTRAP_WORKSPACE', () => {
  it('adds a second workspace to a database, with a key and records of its own', async () => {
    const first = await start(OLD);
    await new Client(first.url, OLD).post('/v1/external-events', anExternalEvent());
    const second = await start(OTHERS, 'other');
    expect(await workspaces()).toEqual(['default', 'other']);
    expect((await list(second, OTHERS)).body.items).toEqual([]);
    expect((await list(second, OLD)).body.items).toHaveLength(1);
    expect(await statusOf(await start(NEW, 'other'), OTHERS)).toBe(401);
    expect(await statusOf(second, OLD)).toBe(200);
  });

  it('stops the start when the key is one of another workspace, and leaves nothing behind', async () => {
    await start(OLD);
    const refusal = await start(OLD, 'other').catch(String);
    expect(refusal).toMatch(/BOOTSTRAP_ADMIN_KEY must not be a key that exists already/);
    expect(refusal).not.toContain(OLD);
    expect(await statusOf(await start(OLD), OLD)).toBe(200);
    expect(await workspaces()).toEqual(['default']);
  });
});

describe('neither of them', () => {
  it('gives an empty database one workspace and one key, on one of any number of nodes that start at once', async () => {
    const nodes = await startAtOnce(undefined, undefined, undefined);
    const [firstKey, ...others] = nodes.flatMap((node) => node.firstKey ?? []);
    expect([firstKey?.workspace, others]).toEqual(['default', []]);
    expect(await isAdmin(nodes[0]!, firstKey!.key)).toBe(true);
    expect(await workspaces()).toEqual(['default']);
    expect((await start()).firstKey).toBeUndefined();
  });

  it('changes nothing in a database that has a workspace', async () => {
    const before = await start(OTHERS, 'other');
    const { firstKey } = await start();
    expect([firstKey, await workspaces(), await statusOf(before, OTHERS)]).toEqual([undefined, ['other'], 200]);
  });
});

interface Run {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

/** Runs the built service as a process until `until` matches what it writes to one of its outputs, or until it ends. */
async function run(environment: Readonly<Record<string, string>>, until?: RegExp): Promise<Run> {
  const env = { PATH: process.env['PATH'], PORT: '0', LOG_LEVEL: 'trace', ...environment };
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      written[name] += chunk.toString();
      if (until?.test(written[name])) child.kill('SIGTERM');
    });
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX);
  await once(child, 'close');
  clearTimeout(timer);
  return { ...written, code: child.exitCode };
}

describe('a service process', () => {
  it('shows the first key once on standard output and never in its log, and no key at the next start', async () => {
    const first = await run({ DATABASE_URL: await freshDatabaseUrl('first', 'template1') }, /listening[^]*\n$/);
    const keys = first.stdout.match(/cds_[0-9A-Za-z]{38}/g) ?? [];
    expect([first.code, keys.length]).toEqual([0, 1]);
    expect(first.stderr).not.toContain(keys[0]!.slice(8, -4));
    const node = await start();
    const again = await run({ DATABASE_URL: databaseUrl }, /listening[^]*\n$/);
    expect(again.stdout + again.stderr).not.toMatch(/cds_[0-9A-Za-z]{38}/);
    expect(await statusOf(node, node.firstKey!.key)).toBe(200);
  });

  it('serves also when standard output cannot be written, and says how to get the key that was not shown', async () => {
    const env = { PATH: process.env['PATH'], PORT: '0', LOG_LEVEL: 'info', DATABASE_URL: databaseUrl };
    const child = spawn('bash', ['-c', `exec ${process.execPath} ${MAIN} > /dev/full`], { env });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
      if (/could not be shown/.test(stderr)) child.kill('SIGTERM');
    });
    await once(child, 'close');
    expect([child.exitCode, stderr]).toEqual([
      0,
      expect.stringContaining('npm run cds -- keys create --workspace default'),
    ]);
  });

  it.each(['1', '2'])('shows the first key also when it cannot listen afterwards (WORKERS=%s)', async (workers) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const address = { HOST: '127.0.0.1', PORT: String(port), WORKERS: workers };
    const { code, stdout } = await run({ DATABASE_URL: databaseUrl, ...address });
    other.close();
    expect(code).toBe(1);
    const key = /shown only now: (cds_[0-9A-Za-z]{38})\n/.exec(stdout)?.[1];
    expect(await isAdmin(await start(), key ?? 'none')).toBe(true);
  });

  it.each(['1', '2'])('ends with 0 when it is stopped during its start (WORKERS=%s)', async (workers) => {
    const { code, stderr } = await run({ DATABASE_URL: databaseUrl, WORKERS: workers }, /Starting Nest application/);
    expect([code, stderr]).toEqual([0, expect.not.stringMatching(/cannot start|did not stop/)]);
  });

  it('ends with 0 when a signal reaches its workers, too, during their start, as by Ctrl-C', async () => {
    const env = { PATH: process.env['PATH'], PORT: '0', LOG_LEVEL: 'trace', DATABASE_URL: databaseUrl, WORKERS: '2' };
    const child = spawn(process.execPath, [MAIN], { env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
    const group = -(child.pid ?? Number.NaN);
    let written = '';
    child.stderr.on('data', (chunk: Buffer) => {
      const wasStarting = written.includes('Starting Nest application');
      written += chunk.toString();
      if (!wasStarting && written.includes('Starting Nest application')) process.kill(group, 'SIGINT');
    });
    await once(child, 'close');
    expect([child.exitCode, written]).toEqual([0, expect.not.stringContaining('cannot start')]);
  });

  it('ends with one message when its key belongs to another workspace', async () => {
    await start(OLD);
    const environment = { DATABASE_URL: databaseUrl, BOOTSTRAP_ADMIN_KEY: OLD, BOOTSTRAP_WORKSPACE: 'other' };
    const { code, stdout, stderr } = await run({ ...environment, LOG_LEVEL: 'warn' });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^The service cannot start\. .*BOOTSTRAP_ADMIN_KEY must not be a key that exists already[^\n]*\n$/,
    );
  });

  it('says that a key was revoked, without saying which', async () => {
    await start(OLD);
    await rows('UPDATE api_keys SET revoked_at = now()');
    const environment = { DATABASE_URL: databaseUrl, BOOTSTRAP_ADMIN_KEY: OLD, LOG_LEVEL: 'warn' };
    const { code, stdout, stderr } = await run(environment, /listening[^]*\n$/);
    expect([code, stderr.trim().split('\n').length]).toEqual([0, 1]);
    expect(stderr).toMatch(/BOOTSTRAP_ADMIN_KEY was revoked/);
    expect(stdout + stderr).not.toContain(OLD);
  });

  it.each(['1', '2'])('ends with one message when its port is in use (WORKERS=%s)', async (workers) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const address = { HOST: '127.0.0.1', PORT: String(port), WORKERS: workers };
    const { code, stderr } = await run({ DATABASE_URL: databaseUrl, ...address, LOG_LEVEL: 'error' });
    other.close();
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(
      `The service cannot start. Port ${port} is in use. Set PORT to another one, or stop what listens there.`,
    );
  });

  it.each([
    ['no-such-host.invalid', '1', /HOST \(no-such-host\.invalid\) has no address/],
    ['no-such-host.invalid', '2', /HOST \(no-such-host\.invalid\) has no address/],
    ['192.0.2.1', '1', /HOST \(192\.0\.2\.1\) is no address of this machine/],
    ['192.0.2.1', '2', /HOST \(192\.0\.2\.1\) is no address of this machine/],
  ])(
    'ends with a message about HOST when it cannot listen there (HOST=%s, WORKERS=%s)',
    async (host, workers, words) => {
      const environment = { DATABASE_URL: databaseUrl, HOST: host, WORKERS: workers, LOG_LEVEL: 'error' };
      const { code, stderr } = await run(environment);
      expect(code).toBe(1);
      expect(stderr.trimEnd().split('\n').at(-1)).toMatch(words);
      expect(stderr).not.toContain('DATABASE_URL');
    },
  );

  it('ends with one message that names every variable with a bad value, and shows none', async () => {
    const { dataDir, host, placeholderIdentities, oidcClientId, oidcClientSecret, oidcGroupsClaim } = SETTINGS;
    const unlimited = [dataDir, host, placeholderIdentities, oidcClientId, oidcClientSecret, oidcGroupsClaim].map(
      ({ variable }) => variable,
    );
    const variables = Object.values(SETTINGS).map(({ variable }) => variable);
    const limited = variables.filter((variable) => !unlimited.includes(variable));
    const { code, stdout, stderr } = await run(Object.fromEntries(limited.map((each) => [each, 'a bad value'])));
    expect([code, stdout, stderr.match(/\n/g)]).toEqual([1, '', ['\n']]);
    expect(limited.filter((variable) => !stderr.includes(`${variable} must`))).toEqual([]);
    expect(stderr).not.toContain('a bad value');
  });
});
