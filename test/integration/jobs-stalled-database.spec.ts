import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import type { Client } from 'pg';
import { openJobPool } from '../../src/platform/jobs/job-pool';
import { Jobs } from '../../src/platform/jobs/jobs';
import { databaseOf, freshDatabaseUrl, withClient } from '../support/database';
import { startFaultProxy } from '../support/fault-proxy';
import { startNode } from '../support/ingest';
import { until } from '../support/until';

const NAME = 'test-job';
/** Longer than any statement of the job library may last. */
const LOCKED_MS = 9_000;

let url: string;

beforeAll(async () => {
  url = await freshDatabaseUrl('jobs_stalled');
});

/** A process that notes the ids of the jobs that it does. */
async function aNode(database = url): Promise<{ node: INestApplicationContext; done: string[] }> {
  const node = await startNode(database);
  const done: string[] = [];
  node.get(Jobs).handle(NAME, ({ id = '' }) => Promise.resolve(void done.push(id)));
  node.get(Jobs).start();
  return { node, done };
}

async function add(client: Client): Promise<string> {
  const id = randomUUID();
  const parameters = [NAME, JSON.stringify({ id }), `${NAME}/${id}`];
  await client.query('SELECT FROM cds_jobs.add_job($1, payload := $2::json, job_key := $3)', parameters);
  return id;
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

it('a job is done by its process, though the answer that handed it over was lost', async () => {
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

it('a connection that is released twice, as the job library may do, harms neither the process nor the pool', async () => {
  const pool = openJobPool({ url }, 1);
  try {
    await new Promise<void>((resolve, reject) => {
      pool.connect((error, _client, release) => {
        if (error !== undefined) {
          reject(error);
          return;
        }
        release();
        release();
        resolve();
      });
    });
    expect([(await pool.query('SELECT 1 AS one')).rows, pool.totalCount]).toEqual([[{ one: 1 }], 1]);
  } finally {
    await pool.end();
  }
});

it('a connection that an ended pool does not give can be released, as the job library does when it stops', async () => {
  const pool = openJobPool({ url }, 1);
  await pool.end();
  const refused = new Promise<Error | undefined>((resolve) => {
    pool.connect((error, _client, release) => {
      release();
      resolve(error);
    });
  });
  expect(await refused).toMatchObject({ message: 'Cannot use a pool after calling end on the pool' });
});
