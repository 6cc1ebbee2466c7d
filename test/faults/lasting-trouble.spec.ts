import { setTimeout as wait } from 'node:timers/promises';
import { databaseOf, freshDatabaseUrl } from '../support/database';
import { startFaultProxy } from '../support/fault-proxy';
import { startServiceProcess } from '../support/service-process';
import { until } from '../support/until';

/** Several tries of everything that tries again by itself, and less than the time after which a line is repeated. */
const OUTAGE_MS = 3_000;
const LASTING = /"msg":"((?:Events wait for the database|Jobs are not done now)[^"]*)"/g;

it('tells once of a database that stays away, and not at each of its tries', async () => {
  const url = await freshDatabaseUrl('lasting_trouble');
  const proxy = await startFaultProxy(url);
  const service = await startServiceProcess({ DATABASE_URL: proxy.urlOf(databaseOf(url)) });
  const lines = (): string[] => [...service.output().matchAll(LASTING)].map(([, words]) => words ?? '');
  try {
    proxy.setAway(true);
    await until(async () => (await fetch(`${service.url}/health/ready`)).status === 503);
    await until(() => ['Events', 'Jobs'].every((room) => lines().some((line) => line.startsWith(room))));
    await wait(OUTAGE_MS);
    expect(lines()).toEqual([...new Set(lines())]);
    proxy.setAway(false);
    await until(async () => (await fetch(`${service.url}/health/ready`)).status === 200);
    expect(await service.stop()).toBe(0);
  } finally {
    await service.kill();
    await proxy.close();
  }
});
