import Table from 'cli-table3';
import { aWorkspace } from '../../support/client';
import { freshDatabaseUrl } from '../../support/database';
import { aCampaign } from '../../support/runtime';
import { startServiceProcess, type ServiceProcess } from '../../support/service-process';
import { EXPENSIVE_BODIES } from './expensive-bodies';
import { EXPENSIVE_DEFINITIONS } from './expensive-definitions';
import { EXPENSIVE_READS } from './expensive-reads';
import { LatencyProbe, type Seen } from './latency-probe';

/** What other clients may have to wait longer, on a machine that does nothing else. */
const STALL_MS_MAX = 100;
/** The machine stalls now and then by itself; what the service causes is seen each time. */
const TIMES = 3;
const LIMIT_MS = 300_000;

let databaseUrl: string;
let service: ServiceProcess;
let probe: LatencyProbe;
const table = new Table({
  head: ['input', 'slowest answer of others (ms)', 'answers of others', 'statuses', 'memory (MiB)'],
  style: { head: [], border: [], compact: true },
});

beforeAll(async () => {
  databaseUrl = await freshDatabaseUrl('expensive');
  service = await startServiceProcess({
    DATABASE_URL: databaseUrl,
    SECRETS_KEY: 'a-secrets-key-for-tests-of-40-characters',
    LOG_LEVEL: 'warn',
  });
  const { admin } = await aWorkspace({ url: service.url, databaseUrl });
  probe = new LatencyProbe({ url: service.url, key: admin.key });
}, LIMIT_MS);

afterAll(async () => {
  await probe.stop();
  expect(await service.stop()).toBe(0);
  process.stdout.write(`${table.toString()}\n`);
});

async function memoryMiB(): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Math.round(Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / 1024 / 1024);
}

it.each([...EXPENSIVE_BODIES, ...EXPENSIVE_DEFINITIONS, ...EXPENSIVE_READS])(
  `costs other clients less than ${STALL_MS_MAX} ms: $name`,
  async ({ name, prepare, send }) => {
    const seen: Seen[] = [];
    const statuses = new Set<number>();
    for (let time = 0; time < TIMES; time += 1) {
      const campaign = await aCampaign({ url: service.url, databaseUrl });
      await prepare?.(campaign);
      await probe.look();
      for (const status of await send(campaign)) statuses.add(status);
      seen.push(await probe.look());
    }
    const slowestMs = Math.min(...seen.map((each) => each.slowestMs));
    const answers = seen.reduce((sum, each) => sum + each.answers, 0);
    table.push([name, slowestMs.toFixed(1), answers, [...statuses].join(' '), await memoryMiB()]);
    expect(seen.map(({ failures }) => failures)).toEqual(seen.map(() => 0));
    expect(slowestMs).toBeLessThan(STALL_MS_MAX);
  },
  LIMIT_MS,
);
