import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readSample } from '../../../src/demo/cdnow';
import { PURCHASE_EVENT_TYPE, purchaseEvent } from '../../../src/demo/cdp-wire';
import { startCds, type RunningCds } from '../../support/cds';
import { Client } from '../../support/client';
import { freshDatabaseUrl, withClient } from '../../support/database';
import { startServiceProcess } from '../../support/service-process';

const KILLS = 10;
/** Before these the service is killed too, and comes back while the command waits for it. */
const SERVICE_KILLS: readonly number[] = [3, 7];
const KEY = 'events-send-admin-key-events-send-admin-key';

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return String(port);
}

/** The sample as NDJSON, with some lines that are no events; which those are. */
async function writeSample(path: string): Promise<{ lines: number; bad: number[] }> {
  const rows = readSample().flatMap((purchase, index) => {
    const event = purchaseEvent(purchase) as object;
    const row = JSON.stringify(event);
    if (index % 1_000 === 500) return ['{"cut off', row];
    // Under the id of the stored event it would be a duplicate, whatever is wrong with it.
    const refused = { ...event, externalEventId: `refused-${index}`, occurredAt: 'x' };
    return index % 1_000 === 900 ? [row, JSON.stringify(refused)] : [row];
  });
  await writeFile(path, `${rows.join('\n')}\n`);
  const isBad = (row: string): boolean => row.startsWith('{"cut') || row.includes('"occurredAt":"x"');
  return { lines: rows.length, bad: rows.flatMap((row, index) => (isBad(row) ? [index + 1] : [])) };
}

interface Counts {
  readonly accepted: number;
  readonly duplicate: number;
  readonly errors: number;
}

async function linesDone(statePath: string): Promise<number> {
  const { counts } = JSON.parse(await readFile(statePath, 'utf8')) as { counts: Counts };
  return counts.accepted + counts.duplicate + counts.errors;
}

/** Until more is done than before: the kill comes in the middle of its work. */
async function untilWorking(statePath: string, { child }: RunningCds, before: number): Promise<void> {
  while (child.exitCode === null) {
    if ((await linesDone(statePath).catch(() => before)) > before) return;
    await wait(5);
  }
  throw new Error(`It ended before it was killed (exit code ${child.exitCode}).`);
}

it(`killed ${KILLS} times, and its service with it, cds events send stores each of 6,919 purchases once and notes each bad line once`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cds-send-kills-'));
  const file = join(folder, 'cdnow.ndjson');
  const statePath = `${file}.state.json`;
  const { lines, bad } = await writeSample(file);
  const databaseUrl = await freshDatabaseUrl('sendkills');
  const environment = { DATABASE_URL: databaseUrl, BOOTSTRAP_ADMIN_KEY: KEY, PORT: await freePort() };
  let service = await startServiceProcess(environment);
  expect((await new Client(service.url, KEY).post('/v1/cdp/event-types', PURCHASE_EVENT_TYPE)).status).toBe(201);
  const send = (batchSize: number): RunningCds =>
    startCds({ CDS_API_KEY: KEY, CDS_URL: service.url }, [
      'events',
      'send',
      file,
      '--json',
      '--batch-size',
      `${batchSize}`,
    ]);

  let done = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const run = send(3);
    if (SERVICE_KILLS.includes(kill)) {
      await service.kill();
      service = await startServiceProcess(environment);
    }
    await untilWorking(statePath, run, done);
    await wait(Math.random() * 100);
    run.child.kill('SIGKILL');
    expect((await run.ended).code).toBeNull();
    const now = await linesDone(statePath);
    expect(now).toBeGreaterThan(done);
    done = now;
  }
  expect(done).toBeLessThan(lines);

  const last = await send(400).ended;
  const summary = JSON.parse(last.out) as Counts;
  expect([last.code, summary]).toMatchObject([1, { lines, errors: bad.length, runs: KILLS + 1, complete: true }]);
  expect(summary.accepted + summary.duplicate).toBe(6_919);
  const noted = (await readFile(`${file}.errors.ndjson`, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).line);
  expect(noted.toSorted((a, b) => a - b)).toEqual(bad);
  await expect(readFile(statePath)).rejects.toThrow('ENOENT');
  const stored = await withClient(databaseUrl, (client) =>
    client.query('SELECT count(*)::int AS events, count(DISTINCT external_event_id)::int AS ids FROM events'),
  );
  expect(stored.rows).toEqual([{ events: 6_919, ids: 6_919 }]);
  await service.stop();
  await rm(folder, { recursive: true });
});
