import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import type { Client } from 'pg';
import { Jobs, type JobWork } from '../../src/platform/jobs/jobs';
import { databaseOf, freshDatabaseUrl, withClient } from '../support/database';
import { startFaultProxy } from '../support/fault-proxy';
import { startNode } from '../support/ingest';
import { until } from '../support/until';

const NAME = 'test-job';
/** Longer than any statement of the job library may last. */
const LOCKED_MS = 9_000;

let url: string;

beforeAll(async () => {
  url = await freshDatabaseUrl('jobs_faults');
});

/** A process that notes the ids of the jobs that it does. */
async function aNode(
  database = url,
  work: JobWork = () => Promise.resolve(),
): Promise<{ node: INestApplicationContext; done: string[] }> {
  const node = await startNode(database);
  const done: string[] = [];
  node.get(Jobs).handle(NAME, (payload) => {
    done.push(payload['id'] ?? '');
    return work(payload);
  });
  node.get(Jobs).start();
  return { node, done };
}

async function add(client: Client): Promise<string> {
  const id = randomUUID();
  const parameters = [NAME, JSON.stringify({ id }), `${NAME}/${id}`];
  await client.query('SELECT FROM cds_jobs.add_job($1, payload := $2::json, job_key := $3)', parameters);
  return id;
}

/** A job that lasts until `leave` is called. */
function aLongJob(): { work: JobWork; leave: () => void } {
  let leave = (): void => undefined;
  const left = new Promise<void>((resolve) => (leave = resolve));
  return { work: () => left, leave };
}

const isWaiting = (id: string): Promise<boolean> =>
  withClient(url, async (client) => {
    const { rows } = await client.query('SELECT FROM cds_jobs.jobs WHERE key = $1', [`${NAME}/${id}`]);
    return rows.length > 0;
  });

/** Takes the connections of jobs away, and lets nobody connect again before `meanwhile` is over. */
async function cutOff(meanwhile: () => Promise<void>): Promise<void> {
  const database = databaseOf(url);
  // Another database of the same server: nobody can be in the one that lets nobody connect.
  await withClient(url.replace(`/${database}`, '/postgres'), async (client) => {
    await client.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cds-jobs' AND datname = $1`,
      [database],
    );
    await meanwhile();
    await client.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`);
  });
}

/** Runs `work` while no job can be taken. */
async function whileLocked(work: (client: Client) => Promise<void>): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('BEGIN');
    await client.query('LOCK TABLE cds_jobs._private_jobs IN SHARE MODE');
    await work(client);
    await client.query('COMMIT');
  });
}

/** Sessions whose look for a job has waited for the lock for so long. */
const waitingFor = (seconds: number): Promise<number> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE application_name = 'cds-jobs' AND datname = current_database() AND wait_event_type = 'Lock'
         AND query_start < clock_timestamp() - make_interval(secs => $1)`,
      [seconds],
    );
    return rows[0]?.count ?? 0;
  });

describe('a job', () => {
  it('is done after its process has lost every connection, idle or at work', async () => {
    const { work, leave } = aLongJob();
    const { node, done } = await aNode(url, work);
    try {
      const first = await withClient(url, add);
      await until(() => done.includes(first));
      // What the job has done cannot be written down for a second.
      await cutOff(async () => {
        leave();
        await wait(1_000);
      });
      await until(async () => !(await isWaiting(first)));
      await cutOff(() => Promise.resolve());
      const last = await withClient(url, add);
      await until(() => done.includes(last));
    } finally {
      await node.close();
    }
  });

  it('does not stay locked when the connections of its process fall silent before its end is recorded', async () => {
    const proxy = await startFaultProxy(url);
    const { work, leave } = aLongJob();
    const { node, done } = await aNode(proxy.urlOf(databaseOf(url)), work);
    try {
      const id = await withClient(url, add);
      await until(() => done.includes(id));
      proxy.fallSilent();
      leave();
      await until(async () => !(await isWaiting(id)));
    } finally {
      await node.close();
      await proxy.close();
    }
  });

  it('is done by its process, though the answer that handed it over was lost', async () => {
    const proxy = await startFaultProxy(url);
    const { node, done } = await aNode(proxy.urlOf(databaseOf(url)));
    try {
      const first = await withClient(url, add);
      await until(() => done.includes(first));
      let lost = '';
      await whileLocked(async (client) => {
        lost = await add(client);
        // The look for a job is answered when the connection carries nothing any more.
        await until(async () => (await waitingFor(0)) > 0);
        proxy.fallSilent();
      });
      await until(() => done.includes(lost));
    } finally {
      await node.close();
      await proxy.close();
    }
  });
});

it('looks for jobs leave no session behind on a server that lets them wait', async () => {
  const { node } = await aNode();
  try {
    await whileLocked(async () => {
      for (const end = performance.now() + LOCKED_MS; performance.now() < end;) {
        expect(await waitingFor(7)).toBe(0);
        await wait(500);
      }
    });
  } finally {
    await node.close();
  }
});
