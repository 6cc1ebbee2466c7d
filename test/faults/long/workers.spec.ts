import { readFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '../../support/client';
import { freshDatabaseUrl } from '../../support/database';
import { startServiceProcess } from '../../support/service-process';
import { until } from '../../support/until';
import { sendApart, untilOnOwnCores, workersOf } from '../../support/worker-processes';

/** Long enough for a worker to be started on a busy machine. */
const STARTED_SECONDS = 45;

async function processesIn(dataDir: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    const folder = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (environment.includes(dataDir) || folder.includes(dataDir)) found.push(folder.replaceAll('\0', ' '));
  }
  return found;
}

describe('WORKERS=2', () => {
  it('serves on one free port, shows the first key once, and SIGTERM ends everything with 0 within 10 s', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'cds-workers-'));
    const service = await startServiceProcess({ WORKERS: '2', DATA_DIR: dataDir, BOOTSTRAP_ADMIN_KEY: '' });
    const keys = service.output().match(/cds_\w+/g) ?? [];
    expect(keys).toHaveLength(1);
    expect(await workersOf(service.child.pid)).toHaveLength(2);
    expect(await sendApart(new Client(service.url, keys[0]), 40)).toEqual({ 202: 40 });
    const asked = performance.now();
    expect(await service.stop()).toBe(0);
    expect(performance.now() - asked).toBeLessThan(10_000);
    expect(await processesIn(dataDir)).toEqual([]);
    await rm(dataDir, { recursive: true, force: true });
  });

  it('starts another worker where one was killed, and serves meanwhile', async () => {
    const service = await startServiceProcess({ WORKERS: '2', DATABASE_URL: await freshDatabaseUrl('workers') });
    const client = new Client(service.url, service.adminKey);
    const [killed = 0, other] = await workersOf(service.child.pid);
    process.kill(killed, 'SIGKILL');
    await until(async () => {
      const now = await workersOf(service.child.pid);
      return now.length === 2 && !now.includes(killed) && now.includes(other ?? 0);
    }, STARTED_SECONDS);
    await untilOnOwnCores(service.child.pid);
    await until(async () => (await sendApart(client, 20))[202] === 20, STARTED_SECONDS);
    const again = await workersOf(service.child.pid);
    for (const pid of again) process.kill(pid, 'SIGKILL');
    await until(async () => (await sendApart(client, 20))[202] === 20, STARTED_SECONDS);
    expect(await service.stop()).toBe(0);
  });

  it('leaves no worker and no PostgreSQL behind when the first process is killed', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'cds-workers-'));
    const service = await startServiceProcess({ WORKERS: '2', DATA_DIR: dataDir });
    const workers = await workersOf(service.child.pid);
    expect(workers).toHaveLength(2);
    await service.kill();
    await until(async () => (await processesIn(dataDir)).length === 0, STARTED_SECONDS);
    await rm(dataDir, { recursive: true, force: true });
  });

  it('says in one message why it cannot start, and ends with 1', async () => {
    const taken = await startServiceProcess({ DATABASE_URL: await freshDatabaseUrl('workers') });
    const { port } = new URL(taken.url);
    const starting = startServiceProcess({
      WORKERS: '2',
      PORT: port,
      HOST: '0.0.0.0',
      DATABASE_URL: await freshDatabaseUrl('workers'),
    });
    try {
      await expect(starting).rejects.toThrow(`The service cannot start. Port ${port} is in use.`);
    } finally {
      // Also when it does start, or says something else: nothing is to be left behind.
      expect(await taken.stop()).toBe(0);
    }
  });
});
