import { setTimeout as wait } from 'node:timers/promises';
import { apiKeyHash } from '../../src/api-keys/api-key.repository';
import { Client, type Answer } from '../support/client';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { untilRemembered } from '../support/remembered-key';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';

/** Contract section 2: after this long no node takes a revoked key. */
const REFUSED_MS_MAX = 1_000;
/** So long the node is asked on, to see that it stays so. */
const WATCHED_MS = 1_600;
const ASKERS = 4;
/** Between two questions of one asker, so that the tests beside this one have a core too. */
const PAUSE_MS = process.env['LONG_ROUNDS'] === undefined ? 4 : 0;
/** `npm run test:faults` asks for more, and without a pause: each lasts some three seconds. */
const ROUNDS = Number(process.env['FAULT_KEY_ROUNDS'] ?? 1);
/** So many answers are waited for before the change. */
const WARM_ANSWERS = 40;
const ENVIRONMENT = {
  BOOTSTRAP_ADMIN_KEY: 'keys-on-two-nodes-admin-key-keys-on-two-nodes',
  // The askers send more bad credentials than a client may.
  AUTH_FAILURES_PER_MINUTE: '1000000',
};
/** May do everything but see what changed on other nodes. */
const BLIND_ROLE = `blind_${process.pid}_${Date.now()}`;

let databaseUrl: string;
let first: ServiceProcess;
let second: ServiceProcess;
let blind: ServiceProcess;
let admin: Client;
const plaintexts: string[] = [];

beforeAll(async () => {
  databaseUrl = await freshDatabaseUrl('keys_on_two_nodes');
  // The tables of jobs have policies that let their owner through; without its jobs the process would be ill, not blind.
  await sql(`CREATE ROLE ${BLIND_ROLE} LOGIN BYPASSRLS`);
  await sql(`GRANT ALL ON ALL TABLES IN SCHEMA public, cds_jobs TO ${BLIND_ROLE}`);
  await sql(`GRANT USAGE ON SCHEMA cds_jobs TO ${BLIND_ROLE}`);
  await sql(`GRANT ALL ON ALL SEQUENCES IN SCHEMA public, cds_jobs TO ${BLIND_ROLE}`);
  await sql(`REVOKE SELECT ON control_changes FROM ${BLIND_ROLE}`);
  const start = (url: string) => startServiceProcess({ ...ENVIRONMENT, DATABASE_URL: url });
  first = await start(databaseUrl);
  [second, blind] = await Promise.all([
    start(databaseUrl),
    start(databaseUrl.replace(/(?<=^\w+:\/\/)[^@]*(?=@)/, BLIND_ROLE)),
  ]);
  admin = new Client(first.url, first.adminKey);
});

afterAll(async () => {
  expect(await Promise.all([first, second, blind].map((node) => node.stop()))).toEqual([0, 0, 0]);
  await sql(`DROP OWNED BY ${BLIND_ROLE}`);
  await sql(`DROP ROLE ${BLIND_ROLE}`);
});

function sql(text: string, values: unknown[] = []): Promise<any[]> {
  return rowsOf(databaseUrl, text, values);
}

async function create(): Promise<{ id: string; key: string }> {
  const { body } = await admin.post('/v1/api-keys', { name: 'x', scopes: ['events:read'] });
  plaintexts.push(body.key);
  return { id: body.apiKey.id, key: body.key };
}

const outcomeOf = async (node: ServiceProcess, key: string): Promise<string> => {
  const { status, body } = await new Client(node.url, key).get('/v1/events?limit=1');
  return status === 200 ? '200' : `${status} ${body.error_code}`;
};

interface Asked {
  /** When the question was sent, counted from the answer to the change. */
  readonly afterMs: number;
  readonly outcome: string;
}

/**
 * Asks a node with a key from several sides again and again, from before `change` until long after it was answered;
 * `then` runs as soon as it is.
 */
async function askAround(
  node: ServiceProcess,
  key: string,
  change: () => Promise<Answer>,
  then: (answer: Answer) => Promise<void>,
): Promise<Asked[]> {
  const asked: { sentAtMs: number; outcome: string }[] = [];
  let answeredAtMs = Number.POSITIVE_INFINITY;
  let late = 0;
  const askers = Array.from({ length: ASKERS }, async () => {
    // A slow machine may get little asked in that time.
    while (performance.now() < answeredAtMs + WATCHED_MS || late <= ASKERS) {
      const sentAtMs = performance.now();
      if (sentAtMs > answeredAtMs + REFUSED_MS_MAX + 1) late += 1;
      asked.push({ sentAtMs, outcome: await outcomeOf(node, key) });
      if (PAUSE_MS > 0) await wait(PAUSE_MS);
    }
  });
  while (asked.length < WARM_ANSWERS) await wait(1);
  const answer = await change();
  answeredAtMs = performance.now();
  await then(answer);
  await Promise.all(askers);
  return asked.map(({ sentAtMs, outcome }) => ({ afterMs: Math.round(sentAtMs - answeredAtMs), outcome }));
}

/** Holds the other nodes to the contract: what they were asked more than a second after the change was answered, they refused. */
function expectRefusedInTime(asked: readonly Asked[]): void {
  const lastTakenMs = Math.max(...asked.filter(({ outcome }) => outcome === '200').map(({ afterMs }) => afterMs));
  const words = `last taken when sent ${lastTakenMs} ms after the change was answered`;
  expect([words, lastTakenMs <= REFUSED_MS_MAX]).toEqual([words, true]);
  expect(asked.filter(({ afterMs }) => afterMs > REFUSED_MS_MAX).length).toBeGreaterThan(ASKERS);
  expect(new Set(asked.map(({ outcome }) => outcome))).toEqual(new Set(['200', '401 api_key_revoked']));
}

describe.each([
  ['remembers it', () => second],
  ['cannot see what changes elsewhere', () => blind],
])('a process that %s', (name, node) => {
  async function aWarmKey(): Promise<{ id: string; key: string }> {
    const made = await create();
    await untilRemembered(first.url, databaseUrl, made.key);
    if (name === 'remembers it') await untilRemembered(node().url, databaseUrl, made.key);
    expect(await outcomeOf(node(), made.key)).toBe('200');
    return made;
  }

  it('refuses a key within a second after another process has revoked it', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id, key } = await aWarmKey();
      const revoke = () => admin.send(`/v1/api-keys/${id}:revoke`, undefined);
      const asked = await askAround(node(), key, revoke, async ({ status }) => {
        expect([status, await outcomeOf(first, key)]).toEqual([200, '401 api_key_revoked']);
      });
      expectRefusedInTime(asked);
    }
  });

  it('refuses a key within a second after another process has rotated it, and takes the new one at once', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id, key } = await aWarmKey();
      const rotate = () => admin.send(`/v1/api-keys/${id}:rotate`, undefined);
      const asked = await askAround(node(), key, rotate, async ({ status, body }) => {
        plaintexts.push(body.key);
        const outcomes = [await outcomeOf(first, key), await outcomeOf(node(), body.key)];
        expect([status, ...outcomes]).toEqual([201, '401 api_key_revoked', '200']);
      });
      expectRefusedInTime(asked);
    }
  });
});

describe('a process that cannot see what changes elsewhere', () => {
  it('asks the database at each call', async () => {
    const { key } = await create();
    const outcomes = [];
    for (const revokedAt of ['now()', 'NULL', 'now()', 'NULL']) {
      await sql(`UPDATE api_keys SET revoked_at = ${revokedAt} WHERE key_hash = $1`, [apiKeyHash(key)]);
      outcomes.push(await outcomeOf(blind, key));
    }
    expect(outcomes).toEqual(['401 api_key_revoked', '200', '401 api_key_revoked', '200']);
  });

  it('says so once, and serves good keys all the while', async () => {
    const { key } = await create();
    for (let call = 0; call < 50; call += 1) expect(await outcomeOf(blind, key)).toBe('200');
    expect(blind.output().match(/Changes on other nodes cannot be read/g)).toHaveLength(1);
    expect(blind.output()).not.toMatch(/Background jobs do not run/);
    expect(second.output()).not.toMatch(/cannot be read/);
  });
});

describe('what the processes write', () => {
  it('holds no key', () => {
    const written = [first, second, blind].map((node) => node.output()).join('\n');
    expect(plaintexts.length).toBeGreaterThan(0);
    expect([...plaintexts, first.adminKey].filter((key) => written.includes(key))).toEqual([]);
  });
});
