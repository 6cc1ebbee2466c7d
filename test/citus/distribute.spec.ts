import { checkDistribution } from '../../src/platform/postgres/distribution/check';
import { distribute, undistribute, type MovedTable } from '../../src/platform/postgres/distribution/distribute';
import { startApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { Client } from '../support/client';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { aTenant } from '../support/tenant';

/** Each table is moved twice, with its shards. */
const SLOW_MS = 300_000;

const EVENTS = Array.from({ length: 20 }, () => anExternalEvent());

/** The status codes of the events, sent with the admin key of a workspace to a service that is started for that. */
async function statusesOf(url: string, adminKey: string): Promise<number[]> {
  const app = await startApp({}, url);
  try {
    const client = new Client(app.url, adminKey);
    const statuses = new Set<number>();
    for (const event of EVENTS) statuses.add((await client.post('/v1/external-events', event)).status);
    return [...statuses];
  } finally {
    await app.stop();
  }
}

it(
  'brings a filled database back to one server and out again: nothing is lost, and every event stays known',
  async () => {
    const url = await freshDatabaseUrl('moves');
    const { adminKey } = await aTenant(url);
    expect(await statusesOf(url, adminKey)).toEqual([202]);
    const moved: MovedTable[] = [];
    await undistribute({ url }, (table) => moved.push(table));
    expect(moved).toContainEqual({ name: 'events', rows: EVENTS.length });
    expect(await statusesOf(url, adminKey)).toEqual([200]);
    moved.length = 0;
    await distribute({ url }, (table) => moved.push(table));
    expect(moved).toContainEqual({ name: 'events', rows: EVENTS.length });
    expect(await statusesOf(url, adminKey)).toEqual([200]);
    expect((await checkDistribution({ url })).missing).toEqual([]);
    expect(await rowsOf(url, 'SELECT count(*)::int AS events FROM events')).toEqual([{ events: EVENTS.length }]);
    // Again: nothing is left to do.
    moved.length = 0;
    await distribute({ url }, (table) => moved.push(table));
    expect(moved).toEqual([]);
  },
  SLOW_MS,
);

it('does nothing while the service runs', async () => {
  const url = await freshDatabaseUrl('runs');
  const app = await startApp({}, url);
  try {
    await new Client(app.url, (await aTenant(url)).adminKey).post('/v1/external-events', anExternalEvent());
    await expect(undistribute({ url }, () => undefined)).rejects.toThrow(/service is running.*Nothing was changed/);
  } finally {
    await app.stop();
  }
});
