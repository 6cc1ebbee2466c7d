import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../src/platform/values/clock';
import { MetricsSource } from '../../src/platform/observability/metrics-source';
import { Jobs, type JobPayload, type JobWork } from '../../src/platform/jobs/jobs';
import { freshDatabaseUrl, withClient } from '../support/database';
import { startNode } from '../support/ingest';
import { until } from '../support/until';

const NAME = 'test-job';

let url: string;
const nodes: INestApplicationContext[] = [];

beforeAll(async () => {
  url = await freshDatabaseUrl('jobs');
});

afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.close()));
});

async function aNode(work: JobWork, giveUp?: JobWork): Promise<INestApplicationContext> {
  const node = await startNode(url);
  nodes.push(node);
  node.get(Jobs).handle(NAME, work, giveUp && { giveUp });
  node.get(Jobs).start();
  return node;
}

/** Adds a job; answers its id, by which its doing is told from that of others. */
async function add(node: INestApplicationContext, key: string = randomUUID()): Promise<string> {
  await node.get(DataSource).transaction((manager) => node.get(Jobs).add(manager, NAME, { id: key }, { key }));
  return key;
}

const waiting = (key: string): Promise<number> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM cds_jobs.jobs WHERE key = $1',
      [`${NAME}/${key}`],
    );
    return rows[0]?.count ?? 0;
  });

/** Notes what it is asked to do. */
function aNotebook(): { done: string[]; work: (payload: JobPayload) => Promise<void> } {
  const done: string[] = [];
  return {
    done,
    work: ({ id = '' }) => {
      done.push(id);
      return Promise.resolve();
    },
  };
}

describe('a job', () => {
  it('counts its attempts from zero on, so that a rate sees the first failure of each process', async () => {
    const node = await aNode(() => Promise.resolve());
    const text = await node.get(MetricsSource).text();
    expect(text).toContain(`cds_job_attempts_total{task="${NAME}",outcome="failed"} 0`);
  });

  it('is done once by one of two processes', async () => {
    const { done, work } = aNotebook();
    const first = await aNode(work);
    await aNode(work);
    const ids = await Promise.all(Array.from({ length: 20 }, () => add(first)));
    await until(() => done.length >= 20);
    expect(done.toSorted()).toEqual(ids.toSorted());
  });

  it('is not there when the transaction that adds it fails', async () => {
    const { done, work } = aNotebook();
    const node = await aNode(work);
    const key = randomUUID();
    const failing = node.get(DataSource).transaction(async (manager) => {
      await node.get(Jobs).add(manager, NAME, { id: key }, { key });
      throw new Error('No');
    });
    await expect(failing).rejects.toThrow('No');
    const later = await add(node);
    await until(() => done.includes(later));
    expect([done, await waiting(key)]).toEqual([[later], 0]);
  });

  it('waits once, however often it is added', async () => {
    const node = await startNode(url);
    nodes.push(node);
    const key = randomUUID();
    for (let time = 0; time < 5; time += 1) await add(node, key);
    expect(await waiting(key)).toBe(1);
  });

  it('that fails is tried again, and neither log nor table repeats the words of the error', async () => {
    let attempts = 0;
    const key = randomUUID();
    const node = await aNode((payload) => {
      if (payload['id'] !== key) return Promise.resolve();
      attempts += 1;
      return attempts === 1 ? Promise.reject(new Error('jane@example.com')) : Promise.resolve();
    });
    await add(node, key);
    await until(() => attempts > 0);
    await until(async () => {
      const { rows } = await withClient(url, (client) =>
        client.query('SELECT last_error FROM cds_jobs._private_jobs WHERE last_error IS NOT NULL'),
      );
      expect(JSON.stringify(rows)).not.toContain('jane');
      return rows.length > 0;
    });
    await until(() => attempts === 2);
  });

  it('that was replaced while it ran leaves nothing, though it fails', async () => {
    const key = randomUUID();
    const { done, work } = aNotebook();
    let fail = (): void => undefined;
    const node = await aNode(async (payload) => {
      await work(payload);
      if (done.length === 1) await new Promise<void>((_resolve, reject) => (fail = () => reject(new Error('No'))));
    });
    await add(node, key);
    await until(() => done.length === 1);
    await add(node, key);
    fail();
    await until(() => done.length === 2);
    await until(() =>
      withClient(url, async (client) => {
        const { rows } = await client.query(`SELECT FROM cds_jobs._private_jobs WHERE payload ->> 'id' = $1`, [key]);
        return rows.length === 0;
      }),
    );
  });

  it.each([
    ['fails in its last attempt', 7, false, true],
    ['is cut off with its process in its last attempt', 8, true, false],
  ])('that %s is given up', async (_, attempts, isLocked, isTried) => {
    const key = randomUUID();
    const given = aNotebook();
    const { done, work } = aNotebook();
    const failing: JobWork = async (payload) => {
      await work(payload);
      if (payload['id'] === key) throw new Error('No');
    };
    const node = await startNode(url);
    nodes.push(node);
    node.get(Jobs).handle(NAME, failing, { giveUp: given.work });
    await add(node, key);
    await withClient(url, (client) =>
      client.query(
        `UPDATE cds_jobs._private_jobs SET attempts = $2, locked_by = CASE WHEN $3 THEN 'dead' END,
           locked_at = CASE WHEN $3 THEN now() END WHERE key = $1`,
        [`${NAME}/${key}`, attempts, isLocked],
      ),
    );
    await aNode(failing, given.work);
    await until(() => given.done.includes(key));
    await until(async () => (await waiting(key)) === 0);
    expect([given.done, done.includes(key)]).toEqual([[key], isTried]);
  });

  it('is given up as soon as that succeeds', async () => {
    const key = randomUUID();
    let refusals = 0;
    const failing: JobWork = ({ id }) => (id === key ? Promise.reject(new Error('No')) : Promise.resolve());
    const giveUp: JobWork = () => ((refusals += 1) === 1 ? Promise.reject(new Error('No')) : Promise.resolve());
    const node = await aNode(failing, giveUp);
    await add(node, key);
    await until(async () => {
      // Without the delays between attempts.
      await withClient(url, (client) =>
        client.query(
          `UPDATE cds_jobs._private_jobs SET run_at = now(), attempts = greatest(attempts, 7)
           WHERE key = $1 AND locked_at IS NULL`,
          [`${NAME}/${key}`],
        ),
      );
      return (await waiting(key)) === 0;
    });
    expect(refusals).toBe(2);
  });

  it.each([
    // What a kill leaves: a job that is locked by a worker without a heartbeat, or with one that is not repeated.
    ['has died', '0', false],
    ['died while the clock was ahead', '2 days', true],
  ])('of a process that %s is done by another within seconds', async (_, ahead, leavesHeartbeat) => {
    const key = randomUUID();
    await withClient(url, async (client) => {
      await client.query('SELECT cds_jobs.add_job($1, $2::json, job_key := $3, max_attempts := 8)', [
        ...[NAME, JSON.stringify({ id: key }), `${NAME}/${key}`],
      ]);
      await client.query(
        `UPDATE cds_jobs._private_jobs SET locked_by = $2, locked_at = now() + $3::interval, attempts = 1 WHERE key = $1`,
        [`${NAME}/${key}`, `dead-${key}`, ahead],
      );
      if (!leavesHeartbeat) return;
      await client.query('INSERT INTO cds_jobs.heartbeats (worker_id, seen_at) VALUES ($1, now() + $2::interval)', [
        ...[`dead-${key}`, ahead],
      ]);
    });
    const { done, work } = aNotebook();
    const startedAt = performance.now();
    await aNode(work);
    await until(() => done.includes(key));
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it('is done again when it is added by a process that seemed dead, before that has ended the first one', async () => {
    const { done, work } = aNotebook();
    const finish = new Map<string, () => void>();
    const node = await aNode(async (payload) => {
      await work(payload);
      const { id = '' } = payload;
      if (finish.size < 2) await new Promise<void>((resolve) => finish.set(id, resolve));
    });
    // As many as one process does at a time: it cannot take the freed job itself.
    const [key, other] = [await add(node), await add(node)];
    await until(() => finish.size === 2);
    await withClient(url, (client) =>
      client.query(
        `UPDATE cds_jobs._private_jobs SET locked_by = 'dead', locked_at = now() - interval '1 minute' WHERE key = $1`,
        [`${NAME}/${key}`],
      ),
    );
    await until(() =>
      withClient(url, async (client) => {
        const { rows } = await client.query('SELECT FROM cds_jobs.jobs WHERE key = $1 AND locked_at IS NULL', [
          `${NAME}/${key}`,
        ]);
        return rows.length === 1;
      }),
    );
    await node.get(Jobs).add(node.get(DataSource).manager, NAME, { id: key }, { key, delayMs: 500 });
    finish.get(key)?.();
    await until(() => done.filter((id) => id === key).length === 2);
    finish.get(other)?.();
    await until(async () => (await waiting(key)) === 0);
  });

  it('is left to the process that is at it, as long as that is alive', async () => {
    const { done, work } = aNotebook();
    const key = randomUUID();
    let finish = (): void => undefined;
    const patient: JobWork = async (payload) => {
      await work(payload);
      if (payload['id'] === key) await new Promise<void>((resolve) => (finish = resolve));
    };
    const first = await aNode(patient);
    await aNode(patient);
    await add(first, key);
    await until(() => done.includes(key));
    // Longer than a dead worker is waited for.
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    finish();
    const last = await add(first);
    await until(() => done.includes(last));
    expect(done.filter((id) => id === key)).toEqual([key]);
  });
});

describe('a periodic job', () => {
  it('comes once for all processes when it is due by the time that they share, also once that was set back', async () => {
    let now = Date.UTC(2026, 0, 5, 10, 16, 50);
    const done: number[] = [];
    const work = (): Promise<void> => {
      done.push(now);
      return Promise.resolve();
    };
    for (let each = 0; each < 2; each += 1) {
      const node = await startNode(url);
      nodes.push(node);
      Object.assign(node.get(Clock), { now: () => new Date(now) });
      node.get(Jobs).handle('test-hourly', work, { cron: '17 * * * *' });
      node.get(Jobs).start();
    }
    const due = [Date.UTC(2026, 0, 5, 10, 17, 5), Date.UTC(2026, 0, 5, 11, 20), Date.UTC(2026, 0, 5, 2, 17)];
    for (const [index, at] of due.entries()) {
      now = at;
      await until(() => done.length > index);
    }
    expect(done).toEqual(due);
  });
});

describe('a job that was put off before the clock was set back', () => {
  it('is done within a minute, also by less than an hour', async () => {
    let now = Date.UTC(2026, 0, 5, 10, 16, 50);
    const { done, work } = aNotebook();
    const node = await aNode(work);
    const [before, since] = [randomUUID(), randomUUID()];
    await withClient(url, async (client) => {
      const add = `SELECT cds_jobs.add_job($1, $2::json, job_key := $3, run_at := now() + interval '30 minutes')`;
      for (const id of [before, since]) await client.query(add, [NAME, JSON.stringify({ id }), `${NAME}/${id}`]);
      const later = `UPDATE cds_jobs._private_jobs SET updated_at = now() + interval '25 minutes' WHERE key = $1`;
      await client.query(later, [`${NAME}/${before}`]);
    });
    Object.assign(node.get(Clock), { now: () => new Date(now) });
    await until(() => {
      now += 60_000;
      return done.includes(before);
    });
    expect([done, await waiting(since)]).toEqual([[before], 1]);
  });

  it('is done within a minute after 60 days, and none that waits for its last attempts to give up', async () => {
    let now = Date.UTC(2026, 0, 5, 10, 16, 50);
    const { done, work } = aNotebook();
    const node = await aNode(work);
    const [key, failing] = [randomUUID(), randomUUID()];
    await withClient(url, async (client) => {
      const add = `SELECT cds_jobs.add_job($1, $2::json, job_key := $3, run_at := now() + $4::interval)`;
      await client.query(add, [NAME, JSON.stringify({ id: failing }), `${NAME}/${failing}`, '6 hours']);
      await client.query('UPDATE cds_jobs._private_jobs SET attempts = 10 WHERE key = $1', [`${NAME}/${failing}`]);
      await client.query(add, [NAME, JSON.stringify({ id: key }), `${NAME}/${key}`, '60 days']);
    });
    Object.assign(node.get(Clock), { now: () => new Date(now) });
    await until(() => {
      now += 60_000;
      return done.includes(key);
    });
    expect([done, await waiting(failing)]).toEqual([[key], 1]);
  });
});

describe('a stop', () => {
  it('waits for the job under way, and leaves the next one to others', async () => {
    const begun: string[] = [];
    let finished = 0;
    const node = await aNode(async ({ id = '' }) => {
      begun.push(id);
      await new Promise((resolve) => setTimeout(resolve, 300));
      finished += 1;
    });
    const ids = [await add(node), await add(node), await add(node)];
    await until(() => begun.length > 0);
    await node.get(Jobs).stop();
    expect(finished).toBe(begun.length);
    expect(begun.length).toBeLessThan(ids.length);
    const { done, work } = aNotebook();
    await aNode(work);
    await until(() => begun.length + done.length === ids.length);
    expect([...begun, ...done].toSorted()).toEqual(ids.toSorted());
  });

  it('lasts six seconds at most, whatever the job does', async () => {
    const { done, work } = aNotebook();
    let leave = (): void => undefined;
    const node = await aNode(async (payload) => {
      await work(payload);
      await new Promise<void>((resolve) => (leave = resolve));
    });
    await add(node);
    await until(() => done.length > 0);
    const startedAt = performance.now();
    await node.get(Jobs).stop();
    expect(performance.now() - startedAt).toBeLessThan(7_000);
    leave();
  });
});
