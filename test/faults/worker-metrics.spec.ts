import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from '../support/client';
import { freshDatabaseUrl } from '../support/database';
import { sendUntilGone } from '../support/kept-connections';
import { metricsOf } from '../support/metrics';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';
import { until } from '../support/until';
import { sendApart, untilOnOwnCores, workersOf } from '../support/worker-processes';

const RECEIVED = 'cds_events_received_total{family="external"}';
const ACCEPTED = 'cds_events_total{family="external",outcome="accepted"}';
const WAITING = 'cds_queue_events{state="waiting"}';
const ANSWER_MS_MAX = 2_000;

let service: ServiceProcess;

beforeAll(async () => {
  service = await startServiceProcess({
    // Nobody works off the queue: what waits is known.
    WORKERS: '2',
    ROLE: 'api',
    DATABASE_URL: await freshDatabaseUrl('worker_metrics'),
    SHUTDOWN_DELAY_SECONDS: '3',
  });
});
afterAll(() => service.stop());

/** Looks on a connection of its own, which the workers get in turn. */
async function look() {
  const startedMs = performance.now();
  const signal = AbortSignal.timeout(ANSWER_MS_MAX + 1_000);
  const numbers = await metricsOf(service.url, { headers: { connection: 'close' }, signal });
  return { numbers, tookMs: performance.now() - startedMs };
}

function askBy(agent: Agent, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(`${service.url}${path}`, { agent }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode));
    }).once('error', reject);
  });
}

it('WORKERS=2 keeps each worker to a core of its own where there are two', () => untilOnOwnCores(service.child.pid));

describe('GET /metrics of WORKERS=2', () => {
  it('tells the numbers of both workers together, whichever answers', async () => {
    expect(await sendApart(new Client(service.url, service.adminKey), 40)).toEqual({ 202: 40 });
    for (let round = 0; round < 6; round += 1) {
      const { numbers } = await look();
      expect([numbers[RECEIVED], numbers[ACCEPTED]]).toEqual([40, 40]);
      expect(numbers['cds_http_request_duration_seconds_count{route="/metrics",method="GET",status="2xx"}'] ?? 0).toBe(
        round,
      );
      // The database is the same for both, and its numbers are not added up.
      expect(numbers[WAITING]).toBe(40);
      expect(numbers['cds_ready{reason="ready"}']).toBe(1);
      expect(numbers['cds_workers_missing']).toBe(0);
      expect(numbers['nodejs_eventloop_lag_p99_seconds']).toBeGreaterThan(0);
    }
  });

  it('answers within two seconds while a worker is silent, says so, and lets no counter fall', async () => {
    const [silent = 0] = await workersOf(service.child.pid);
    process.kill(silent, 'SIGSTOP');
    try {
      // The silent one may have been given one connection.
      const looks = await Promise.allSettled([look(), look(), look()]);
      const answered = looks.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      expect(answered.length).toBeGreaterThanOrEqual(2);
      for (const { numbers, tookMs } of answered) {
        expect(tookMs).toBeLessThan(ANSWER_MS_MAX);
        expect([numbers[RECEIVED], numbers[ACCEPTED], numbers['cds_workers_missing']]).toEqual([40, 40, 1]);
      }
    } finally {
      process.kill(silent, 'SIGCONT');
    }
  });

  it('does not end the service when a worker is killed at the moment when it is to be asked', async () => {
    const { pid = 0 } = service.child;
    const [killed = 0, ...others] = await workersOf(pid);
    // Some of each worker, which the first process has no part in any more.
    const kept = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    for (const agent of kept) await askBy(agent, '/health/live');
    process.kill(pid, 'SIGSTOP');
    const asked = kept.slice(0, 4).map((agent) => askBy(agent, '/metrics').catch(() => undefined));
    // Answered behind the requests above: these wait for the first process now, which finds the worker dead.
    for (const agent of kept.slice(4)) await askBy(agent, '/health/live');
    process.kill(killed, 'SIGKILL');
    await until(() => readFileSync(`/proc/${killed}/stat`, 'utf8').includes(') Z '));
    process.kill(pid, 'SIGCONT');
    await Promise.all(asked);
    for (const agent of kept) agent.destroy();
    await until(async () => (await workersOf(pid)).length === 2);
    expect((await workersOf(pid)).filter((worker) => others.includes(worker))).toEqual(others);
    expect(service.child.exitCode).toBeNull();
  });

  it('answers within two seconds after a worker was killed, and keeps what it has counted', async () => {
    const [killed = 0] = await workersOf(service.child.pid);
    process.kill(killed, 'SIGKILL');
    const endMs = performance.now() + 120_000;
    for (let missing: number | undefined = 1; missing !== 0;) {
      expect(performance.now()).toBeLessThan(endMs);
      await wait(20);
      // A connection can have been given to the one that was killed.
      const seen = await look().catch(() => undefined);
      if (seen === undefined) continue;
      expect(seen.tookMs).toBeLessThan(ANSWER_MS_MAX);
      expect([seen.numbers[RECEIVED], seen.numbers[ACCEPTED]]).toEqual([40, 40]);
      missing = seen.numbers['cds_workers_missing'];
    }
    expect(await sendApart(new Client(service.url, service.adminKey), 10)).toEqual({ 202: 10 });
    expect((await look()).numbers[RECEIVED]).toBe(50);
  });
});

describe('SIGTERM with WORKERS=2', () => {
  it('closes no kept connection of either worker that it said to keep', async () => {
    const clients = Array.from({ length: 8 }, () => sendUntilGone(service.url, service.adminKey));
    await until(async () => (await look()).numbers[RECEIVED]! >= 50 + clients.length);
    expect(await service.stop()).toBe(0);
    const lastAnswers = await Promise.all(clients);
    for (const { statuses, connection } of lastAnswers) expect([[...statuses], connection]).toEqual([[202], 'close']);
  });
});
