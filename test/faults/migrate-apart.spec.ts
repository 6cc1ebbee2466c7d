import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client, expectProblem } from '../support/client';
import { freshDatabaseUrl } from '../support/database';
import { startServiceProcess } from '../support/service-process';

const MAIN = join(__dirname, '..', '..', 'dist', 'main.js');
const run = promisify(execFile);

/** `npm run migrate` on a database. */
function migrate(url: string): Promise<{ stdout: string; stderr: string }> {
  return run(process.execPath, [MAIN, 'migrate'], { env: { PATH: process.env['PATH'], DATABASE_URL: url } });
}

const READY_MS_MAX = 120_000;

describe('a service with MIGRATE_ON_START=false', () => {
  it('waits on an empty database, alive and not ready, says so, and serves at the same address once it is migrated', async () => {
    const url = await freshDatabaseUrl('migrate', 'template1');
    const service = await startServiceProcess({ DATABASE_URL: url, MIGRATE_ON_START: 'false' });
    const anybody = new Client(service.url, undefined);
    expect((await anybody.get('/health/live')).status).toBe(200);
    // As the service answers it: a proxy may add a query.
    expect((await anybody.get('/health/live?probe=1')).status).toBe(200);
    const refusal = await anybody.get('/health/ready');
    expectProblem(refusal, 503, 'unavailable');
    // The service takes the port over, and no kept connection is lost with it.
    expect(refusal.headers.get('connection')).toBe('close');
    expect(refusal.body.message).toMatch(/npm run migrate/);
    expectProblem(await new Client(service.url, service.adminKey).post('/v1/external-events', {}), 503, 'unavailable');
    expect(service.output()).toMatch(/\d+ migrations are pending/);

    expect((await migrate(url)).stdout).toBe('The schema is up to date.\n');
    for (const until = Date.now() + READY_MS_MAX; ;) {
      const ready = await anybody.get('/health/ready').catch(() => undefined);
      if (ready?.status === 200 || Date.now() > until) break;
      await wait(50);
    }
    expect((await new Client(service.url, service.adminKey).get('/v1/events')).status).toBe(200);
    expect(await service.stop()).toBe(0);

    // Again: nothing is pending, and nothing is waited for.
    expect((await migrate(url)).stdout).toBe('The schema is up to date.\n');
    const next = await startServiceProcess({ DATABASE_URL: url, MIGRATE_ON_START: 'false' });
    expect((await new Client(next.url, undefined).get('/health/ready')).status).toBe(200);
    expect(await next.stop()).toBe(0);
  });

  it('can be stopped while it waits', async () => {
    const url = await freshDatabaseUrl('migrate', 'template1');
    const service = await startServiceProcess({ DATABASE_URL: url, MIGRATE_ON_START: 'false' });
    expect(await service.stop()).toBe(0);
  });
});

describe('npm run migrate', () => {
  it('says what is wrong and ends with 1 when the database is away', async () => {
    const failure = await migrate('postgresql://nobody@127.0.0.1:1/none').catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 1, stderr: expect.stringMatching(/could not be brought up to date/) });
  });
});

describe('a start', () => {
  it('names every variable with a bad value at once, and nothing of the values', async () => {
    const env = {
      PATH: process.env['PATH'],
      PORT: 'secret-1',
      LOG_LEVEL: 'secret-2',
      MIGRATE_ON_START: 'secret-3',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'secret-4',
      DATABASE_URL: 'secret-5',
    };
    const failure: any = await run(process.execPath, [MAIN], { env }).catch((error: unknown) => error);
    expect(failure.code).toBe(1);
    expect(failure.stdout).toBe('');
    const named = ['PORT', 'LOG_LEVEL', 'MIGRATE_ON_START', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'DATABASE_URL'];
    for (const variable of named) expect(failure.stderr).toContain(`${variable} must`);
    expect(failure.stderr.trim().split('\n')).toHaveLength(1);
    expect(failure.stderr).not.toContain('secret');
  });
});

describe('the log of a process that is told to stop', () => {
  it('has the lines of all requests that it has answered', async () => {
    const service = await startServiceProcess({ DATABASE_URL: await freshDatabaseUrl('stop'), LOG_LEVEL: 'info' });
    const client = new Client(service.url, service.adminKey);
    const answers = Array.from({ length: 200 }, () => client.get('/v1/events'));
    const ids = (await Promise.all(answers)).map(({ headers }) => headers.get('x-request-id')!);
    expect(await service.stop()).toBe(0);
    const told = service
      .output()
      .split('\n')
      .filter((line) => line.includes('"msg":"request"'));
    expect(ids.filter((id) => !told.some((line) => line.includes(id)))).toEqual([]);
  });
});
