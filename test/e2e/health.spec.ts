import { DataSource } from 'typeorm';
import { Jobs } from '../../src/platform/jobs/jobs';
import { Readiness } from '../../src/platform/health/readiness';
import { startApp, type TestApp } from '../support/app';
import { type Answer, Client, expectProblem } from '../support/client';
import { databaseOf, freshDatabaseUrl, withClient } from '../support/database';
import { startFaultProxy, type FaultProxy } from '../support/fault-proxy';

/** Of a probe (contract section 9); on a machine that is busy with other tests, too. */
const ANSWER_MS_MAX = 2_500;
const ATTEMPTS_MAX = 3;

let url: string;
let proxy: FaultProxy;
let service: TestApp;
let anybody: Client;

beforeAll(async () => {
  url = await freshDatabaseUrl('health');
  proxy = await startFaultProxy(url);
});
beforeEach(async () => {
  service = await startApp({}, proxy.urlOf(databaseOf(url)));
  anybody = new Client(service.url, undefined);
});
afterEach(async () => {
  proxy.setAway(false);
  await service.stop();
});
afterAll(() => proxy.close());

/** The first answer that is the one wanted; a connection that was lost is found out by using it. */
async function until(status: number, path: string): Promise<Answer> {
  for (let attempt = 0; ; attempt += 1) {
    const answer = await timed(path);
    if (answer.status === status || attempt > 20) return answer;
  }
}

/** An answer in time. A machine that stalled is asked again; a service that is late is late each time. */
async function timed(path: string): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = performance.now();
    const answer = await anybody.get(path);
    const ms = performance.now() - startedAt;
    if (attempt === ATTEMPTS_MAX) expect(ms).toBeLessThan(ANSWER_MS_MAX);
    if (ms < ANSWER_MS_MAX) return answer;
  }
}

describe('GET /health/ready', () => {
  it('is 200 while the database answers and its schema is current, whatever the query', async () => {
    const { status, body, headers } = await timed('/health/ready?probe=1');
    expect([status, body]).toEqual([200, { status: 'ok' }]);
    expect(headers.get('x-request-id')).toMatch(/\S/);
  });

  it('is 503 as long as the database is away, and 200 again when it is back, by itself', async () => {
    await until(200, '/health/ready');
    proxy.setAway(true);
    for (let look = 0; look < 3; look += 1) {
      const answer = await timed('/health/ready');
      expectProblem(answer, 503, 'unavailable');
      expect(answer.body.message).toMatch(/database does not answer/);
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    proxy.setAway(false);
    expect((await until(200, '/health/ready')).status).toBe(200);
  });

  it('is 503 within two seconds while the database takes connections and says nothing', async () => {
    await until(200, '/health/ready');
    await withClient(url, async (client) => {
      await client.query('BEGIN');
      await client.query('LOCK TABLE migrations IN ACCESS EXCLUSIVE MODE');
      const answers = await Promise.all(Array.from({ length: 20 }, () => timed('/health/ready')));
      for (const answer of answers) expectProblem(answer, 503, 'unavailable');
      await client.query('ROLLBACK');
    });
    expect((await until(200, '/health/ready')).status).toBe(200);
  });

  it('does not take a pool that is in use all over for an absent database', async () => {
    const holders = Array.from({ length: 12 }, () => service.app.get(DataSource).query('SELECT pg_sleep(1)'));
    expect((await timed('/health/ready')).status).toBe(200);
    await Promise.allSettled(holders);
  });

  it('is 503 while migrations are pending', async () => {
    const [last] = await withClient(url, async (client) => {
      const { rows } = await client.query(
        'DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations) RETURNING *',
      );
      return rows;
    });
    try {
      const answer = await timed('/health/ready');
      expectProblem(answer, 503, 'unavailable');
      expect(answer.body.message).toMatch(/npm run migrate/);
    } finally {
      await withClient(url, (client) =>
        client.query('INSERT INTO migrations (id, timestamp, name) VALUES ($1, $2, $3)', [
          ...[last.id, last.timestamp, last.name],
        ]),
      );
    }
    expect((await timed('/health/ready')).status).toBe(200);
  });

  it('is 503 from the moment on in which the process begins to stop', async () => {
    service.app.get(Readiness).stop();
    expectProblem(await timed('/health/ready'), 503, 'unavailable');
  });
});

describe('GET /health/live', () => {
  it('is 200 also while the database is away and while the process stops: neither is mended by killing it', async () => {
    proxy.setAway(true);
    await service.app.get(Jobs).stop();
    service.app.get(Readiness).stop();
    const { status, body } = await timed('/health/live');
    expect([status, body]).toEqual([200, { status: 'ok' }]);
  });
});
