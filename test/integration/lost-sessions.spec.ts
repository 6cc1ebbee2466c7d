import type { Pool } from 'pg';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { DataSource, type EntityManager } from 'typeorm';
import { databaseFailure } from '../../src/platform/postgres/database-errors';
import { databaseOptions } from '../../src/platform/postgres/database-options';
import { databaseOf, databaseUrl, withClient } from '../support/database';
import { startFaultProxy } from '../support/fault-proxy';

let url: string;
let source: DataSource;

beforeAll(async () => {
  url = await databaseUrl();
  source = await new DataSource(databaseOptions({ url })).initialize();
});

afterAll(() => source.destroy());

const endSession = (pid: number): Promise<unknown> =>
  withClient(url, (client) => client.query('SELECT pg_terminate_backend($1)', [pid]));

async function pidOf(manager: EntityManager): Promise<number> {
  const [row] = await manager.query<{ pid: number }[]>('SELECT pg_backend_pid() AS pid');
  return row?.pid ?? 0;
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return databaseFailure(error);
}

it('a session that ends between two statements of a transaction is an absent database, not a bug', async () => {
  const transaction = source.transaction(async (manager) => {
    const pid = await pidOf(manager);
    await endSession(pid);
    while (manager.queryRunner?.isReleased !== true) await new Promise(setImmediate);
    await manager.query('SELECT 1');
  });
  expect(await failureOf(transaction)).toBe('away');
});

it('and so is one that ends during a statement', async () => {
  const transaction = source.transaction(async (manager) => {
    const pid = await pidOf(manager);
    await Promise.all([manager.query('SELECT pg_sleep(5)'), endSession(pid)]);
  });
  expect(await failureOf(transaction)).toBe('away');
});

it('and so is one that the server ends because we were too slow between two statements', async () => {
  const work = withClient(url, async (client) => {
    const ended = new Promise((_resolve, reject) => client.on('error', reject));
    await client.query("SET idle_in_transaction_session_timeout = '50ms'");
    await client.query('BEGIN');
    await ended;
  });
  expect(await failureOf(work)).toBe('away');
});

it('a session that the server ends at the very moment when it is handed out does not end the process', async () => {
  const pool: Pool = (source.driver as PostgresDriver).master;
  await new Promise<void>((resolve) => {
    pool.connect((_error, client, release) => {
      // As when greeting and end come in one packet: before anybody had a chance to listen.
      expect(() => client?.emit('error', new Error('terminating connection'))).not.toThrow();
      release(true);
      resolve();
    });
  });
});

it('a session that does not answer is not used again: no second query waits for it', async () => {
  const proxy = await startFaultProxy(url);
  const silent = await new DataSource(databaseOptions({ url: proxy.urlOf(databaseOf(url)) })).initialize();
  const ask = () => Promise.allSettled(Array.from({ length: 10 }, () => silent.query('SELECT pg_sleep(0.05)')));
  try {
    await ask();
    proxy.fallSilent();
    for (const answer of await ask()) expect(answer).toMatchObject({ reason: { message: 'Query read timeout' } });
    for (const answer of await ask()) expect(answer).toMatchObject({ status: 'fulfilled' });
  } finally {
    // First the lines: the sessions would wait for the server to close them.
    await proxy.close();
    await silent.destroy();
  }
});
