import { setTimeout as wait } from 'node:timers/promises';
import { databaseOf, freshDatabaseUrl } from '../support/database';
import { startFaultProxy } from '../support/fault-proxy';
import { startServiceProcess } from '../support/service-process';
import { until } from '../support/until';

/** Several tries of everything that tries again by itself. */
const OUTAGE_MS = 3_000;
const BEGAN = ['The queue of events cannot be polled.', 'Background jobs do not run now.'];
const ENDED = ['The queue of events is polled again.', 'Background jobs run again.'];

it('tells of a database that stays away when that begins and when it is over, and not at each of its tries', async () => {
  const url = await freshDatabaseUrl('outages');
  const proxy = await startFaultProxy(url);
  const service = await startServiceProcess({ DATABASE_URL: proxy.urlOf(databaseOf(url)) });
  const timesTold = (words: readonly string[]): number[] =>
    words.map((each) => service.output().split(`"msg":"${each}`).length - 1);
  try {
    proxy.setAway(true);
    await until(() => timesTold(BEGAN).every((times) => times > 0));
    await wait(OUTAGE_MS);
    expect([timesTold(BEGAN), timesTold(ENDED)]).toEqual([
      [1, 1],
      [0, 0],
    ]);
    proxy.setAway(false);
    await until(() => timesTold(ENDED).every((times) => times > 0));
    expect([timesTold(BEGAN), timesTold(ENDED)]).toEqual([
      [1, 1],
      [1, 1],
    ]);
    expect(await service.stop()).toBe(0);
  } finally {
    await service.kill();
    await proxy.close();
  }
});
