import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { DataSource, type EntityManager } from 'typeorm';
import { InvalidationFeed } from '../../src/platform/invalidation/invalidation-feed';
import { startApp, type TestApp } from '../support/app';
import { Client } from '../support/client';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { aTenant, type Tenant } from '../support/tenant';
import { until } from '../support/until';

/** Contract section 2: after this long no node takes a revoked key. */
const REFUSED_MS_MAX = 1_000;
/** What is told to be so must come about within this time, on a machine that does other things too. */
const PATIENCE_MS = 15_000;
/** Several times as long as a node waits between two looks. */
const OPEN_MS = 1_200;
/** Shorter than a node trusts what it remembers. */
const LIFE_MS = 600;

let databaseUrl: string;
let node: TestApp;
let other: TestApp;
let tenant: Tenant;

/** A database of its own: one test takes a table away. */
beforeAll(async () => {
  databaseUrl = await freshDatabaseUrl('control');
  node = await startApp({}, databaseUrl);
  other = await startApp({}, databaseUrl);
});

beforeEach(async () => {
  tenant = await aTenant(databaseUrl);
});

afterAll(() => Promise.all([node.stop(), other.stop()]));

const statusOf = async (key: string, { url } = node): Promise<number> =>
  (await new Client(url, key).get('/v1/events')).status;

function sql(text: string, values: unknown[] = []): Promise<any[]> {
  return rowsOf(databaseUrl, text, values);
}

/** Changes the key in the database without a word to anybody. */
function setRevoked(revokedAt: 'now()' | 'NULL'): Promise<unknown> {
  return sql(`UPDATE api_keys SET revoked_at = ${revokedAt} WHERE tenant_id = $1`, [tenant.tenantId]);
}

/** Revokes the workspace's keys as a node does that is asked to; `meanwhile` runs before the commit. */
async function revokeOn(
  { app }: TestApp,
  meanwhile: (manager: EntityManager) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const { tenantId } = tenant;
  await app.get(DataSource).transaction(async (manager) => {
    const update = 'UPDATE api_keys SET revoked_at = now() WHERE tenant_id = $1 RETURNING id';
    const [keys] = await manager.query(update, [tenantId]);
    for (const { id } of keys) await app.get(InvalidationFeed).announce(manager, { tenantId, kind: 'api_key', id });
    await meanwhile(manager);
  });
}

/**
 * Asks until it is so, and tells when it last was not: how long after the call of this function the last question with
 * the old answer was sent. How long answers take does not count.
 */
async function lastMsOfOldAnswer(isSo: () => Promise<boolean>): Promise<number> {
  const startedAt = performance.now();
  for (let lastMs = 0; ;) {
    const askedMs = performance.now() - startedAt;
    if (await isSo()) return Math.round(lastMs);
    if (askedMs > PATIENCE_MS) throw new Error(`It was not so within ${PATIENCE_MS} ms`);
    lastMs = askedMs;
    await wait(10);
  }
}

async function expectRefusedInTime(): Promise<void> {
  const ms = await lastMsOfOldAnswer(async () => (await statusOf(tenant.adminKey)) === 401);
  const words = `last taken ${ms} ms after the revocation was committed`;
  expect([words, ms <= REFUSED_MS_MAX]).toEqual([words, true]);
}

/** Waits until the node answers out of its memory: a silent change of the database goes unnoticed. */
async function untilRemembered(): Promise<void> {
  await lastMsOfOldAnswer(async () => {
    await setRevoked('NULL');
    // A refusal is remembered for a moment too.
    await until(async () => (await statusOf(tenant.adminKey)) === 200);
    await setRevoked('now()');
    return (await statusOf(tenant.adminKey)) === 200;
  });
  await setRevoked('NULL');
}

describe('a key that another node has revoked', () => {
  it('is refused within a second by a node that remembers it', async () => {
    for (let round = 0; round < 3; round += 1) {
      tenant = await aTenant(databaseUrl);
      await untilRemembered();
      await revokeOn(other);
      await expectRefusedInTime();
    }
  });

  it('is refused within a second also where the clock of the database was set forth by minutes just then', async () => {
    const feed = node.app.get(InvalidationFeed);
    expect(await statusOf(tenant.adminKey)).toBe(200);
    // What the clock showed before: to the node at its last look, and in what was written down.
    Object.defineProperty(feed, 'lookedAt', {
      configurable: true,
      get: () => Date.now() / 1_000 - 300,
      set: () => undefined,
    });
    try {
      const before = `UPDATE control_changes SET changed_at = changed_at - interval '5 minutes' WHERE tenant_id = $1`;
      await revokeOn(other, (manager) => manager.query(before, [tenant.tenantId]));
      expect(await lastMsOfOldAnswer(async () => (await statusOf(tenant.adminKey)) === 401)).toBeLessThan(
        REFUSED_MS_MAX,
      );
    } finally {
      Reflect.deleteProperty(feed, 'lookedAt');
    }
  });

  it('stays refused when it is asked for again and again', async () => {
    await untilRemembered();
    await revokeOn(other);
    await expectRefusedInTime();
    for (let call = 0; call < 20; call += 1) expect(await statusOf(tenant.adminKey)).toBe(401);
  });

  it('is taken until the transaction that revokes it is committed, and then refused however long that took', async () => {
    await untilRemembered();
    await revokeOn(other, async () => {
      // Longer than some polls: the node looks while the change is written but not committed.
      const end = performance.now() + OPEN_MS;
      while (performance.now() < end) {
        expect(await statusOf(tenant.adminKey)).toBe(200);
        await wait(10);
      }
    });
    await expectRefusedInTime();
  });
});

describe('a key whose time ends', () => {
  it('is refused from that moment on, also by a node that remembers it', async () => {
    const expiresAt = new Date(Date.now() + LIFE_MS);
    const key = await tenant.key({ expiresAt });
    const answers: string[] = [];
    for (let askedAt = 0; askedAt < expiresAt.getTime() + LIFE_MS;) {
      askedAt = Date.now();
      const status = await statusOf(key);
      const isLate = askedAt >= expiresAt.getTime();
      // An answer that was asked for before that moment may be given after it.
      if (isLate || Date.now() < expiresAt.getTime()) answers.push(`${isLate ? 'after' : 'before'}: ${status}`);
      await wait(10);
    }
    expect([...new Set(answers)]).toEqual(['before: 200', 'after: 401']);
  });
});

describe('a node that cannot see what changes elsewhere', () => {
  beforeEach(async () => {
    await untilRemembered();
    await sql('ALTER TABLE control_changes RENAME TO control_changes_away');
  });

  afterEach(() => sql('ALTER TABLE IF EXISTS control_changes_away RENAME TO control_changes'));

  it('trusts nothing it remembers after 900 ms, and then asks the database at each call', async () => {
    await setRevoked('now()');
    await expectRefusedInTime();
    const statuses = [];
    for (const revokedAt of ['NULL', 'now()', 'NULL', 'now()', 'NULL', 'now()'] as const) {
      await setRevoked(revokedAt);
      statuses.push(await statusOf(tenant.adminKey));
    }
    expect(statuses).toEqual([200, 401, 200, 401, 200, 401]);
  });

  it('remembers again when it sees again', async () => {
    await setRevoked('now()');
    await expectRefusedInTime();
    await setRevoked('NULL');
    await sql('ALTER TABLE control_changes_away RENAME TO control_changes');
    await untilRemembered();
  });
});

describe('a node beside another one in a process', () => {
  it('looks keys up in its own database', async () => {
    const elsewhere = await startApp({}, await freshDatabaseUrl('elsewhere'));
    try {
      const { adminKey } = await aTenant(databaseUrl);
      expect([await statusOf(adminKey), await statusOf(adminKey, elsewhere)]).toEqual([200, 401]);
    } finally {
      await elsewhere.stop();
    }
  });
});
