import Table from 'cli-table3';
import fc from 'fast-check';
import { Client } from '../support/client';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';
import { Documented } from './documented';
import { prepare, type Fixtures } from './fixtures';
import { pipelined, type RawAnswer } from './pipeline';
import { operationsOf, requestsFor, type FuzzedOperation, type FuzzRequest } from './requests';

/** Few here, so that every run of the tests has tried each route; `npm run test:fuzz` tries many. */
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 2_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 1e9));
const LIMIT_MS = 60_000 + REQUESTS * 20;
/** On one connection, one behind the other. */
const PIPELINED = 12;
const CONNECTIONS = 6;
/** Faults shown; the first ones tell enough. */
const SHOWN = 15;

let databaseUrl: string;
let service: ServiceProcess;
let document: any;
let documented: Documented;
let fixtures: Fixtures;
const faults: string[] = [];
/** By route and status. */
const counts = new Map<string, Map<number, number>>();
/** What the answers said that they have stored. */
const acceptedIds = new Set<string>();
/** Whether a request without an answer may have stored something. */
let unanswered = 0;

beforeAll(async () => {
  databaseUrl = await freshDatabaseUrl('fuzz');
  service = await startServiceProcess({
    DATABASE_URL: databaseUrl,
    SECRETS_KEY: 'a-secrets-key-for-tests-of-40-characters',
    AUTH_FAILURES_PER_MINUTE: '1000000',
    LOG_LEVEL: 'warn',
  });
  document = (await new Client(service.url, undefined).get('/docs-json')).body;
  documented = new Documented(document);
  fixtures = await prepare({ url: service.url, databaseUrl });
}, LIMIT_MS);

afterAll(async () => {
  expect(await service.stop()).toBe(0);
  process.stdout.write(`Seed ${SEED}.\n${tableOf()}\n`);
});

function tableOf(): string {
  const statuses = [...new Set([...counts.values()].flatMap((byStatus) => [...byStatus.keys()]))].sort();
  const table = new Table({
    head: ['route', 'all', ...statuses.map(String)],
    style: { head: [], border: [], compact: true },
  });
  let all = 0;
  for (const [route, byStatus] of counts) {
    const sum = [...byStatus.values()].reduce((a, b) => a + b, 0);
    all += sum;
    table.push([route, sum, ...statuses.map((status) => byStatus.get(status) ?? '')]);
  }
  return `${table.toString()}\n${all} requests answered, ${unanswered} cut off by a closed connection.`;
}

function note(request: FuzzRequest, answer: RawAnswer): void {
  const route = request.operation ?? 'some other address';
  const byStatus = counts.get(route) ?? new Map<number, number>();
  counts.set(route, byStatus.set(answer.status, (byStatus.get(answer.status) ?? 0) + 1));
  for (const fault of documented.faultsOf(request, answer)) faults.push(wordsOf(request, answer, fault));
  if (answer.status < 300 && !/[?&]dry_run=true/.test(request.target)) noteAccepted(answer.body);
}

function noteAccepted(body: string): void {
  for (const [, id] of body.matchAll(/"status":"accepted","event_id":"([^"]+)"/g)) acceptedIds.add(id!);
}

function wordsOf({ method, target, headers, body }: FuzzRequest, answer: RawAnswer, fault: string): string {
  const sent = headers.filter(([name]) => name !== 'Authorization').map((pair) => pair.join(': '));
  return `${fault} | ${method} ${target} | ${sent.join(', ')} | ${body.toString().slice(0, 400)} | ${answer.status} ${answer.body.slice(0, 400)}`;
}

/** Sends them in the order made, PIPELINED on a connection; those that a closed connection left unanswered go again. */
async function sendAll(requests: readonly FuzzRequest[]): Promise<void> {
  const port = Number(new URL(service.url).port);
  let left = [...requests];
  while (left.length > 0) {
    const some = left.slice(0, PIPELINED);
    const answers = await pipelined(port, some);
    answers.forEach((answer, index) => note(some[index]!, answer));
    if (answers.length < some.length) unanswered += some.length - answers.length;
    // The one that was cut off without an answer is not tried for ever.
    left = left.slice(Math.max(answers.length, 1));
    if (answers.length === 0)
      faults.push(
        `no answer at all | ${some[0]!.method} ${some[0]!.target} | ${some[0]!.body.toString().slice(0, 300)}`,
      );
  }
}

async function fuzz(operations: readonly FuzzedOperation[]): Promise<void> {
  const each = Math.ceil(REQUESTS / operations.length);
  const chunk = 10 * PIPELINED;
  for (let done = 0; done < each; done += chunk) {
    const jobs = operations.map((operation, index) => () => {
      const arbitrary = requestsFor(document, operation, fixtures.credentials, fixtures.known);
      const numRuns = Math.min(chunk, each - done);
      return sendAll(fc.sample(arbitrary, { numRuns, seed: SEED + done * 1_000 + index }));
    });
    const worker = async (): Promise<void> => {
      for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await job();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  }
}

it(
  `answers ${REQUESTS} requests, right and wrong, as its document says`,
  async () => {
    await fuzz(operationsOf(document));
    if (faults.length > 0) process.stderr.write(service.output());
    expect([faults.length, faults.slice(0, SHOWN)]).toEqual([0, []]);
    expect(service.child.exitCode).toBeNull();
    expect((await fixtures.workspace.admin.get('/v1/events?limit=1')).status).toBe(200);
  },
  LIMIT_MS,
);

it('has stored what it said, and nothing by halves', async () => {
  const { tenantId } = fixtures.workspace;
  const rows = <T>(sql: string): Promise<T[]> => rowsOf<T>(databaseUrl, sql, [tenantId]);
  const stored = new Set(
    (await rows<{ id: string }>('SELECT event_id AS id FROM events WHERE tenant_id = $1')).map(({ id }) => id),
  );
  expect([...acceptedIds].filter((id) => !stored.has(id))).toEqual([]);
  // Bulk replays store what no answer names.
  const replayed = await rows<{ id: string }>(
    `SELECT event_id AS id FROM review_entries WHERE tenant_id = $1 AND status = 'replayed'`,
  );
  const named = new Set([...acceptedIds, ...replayed.map(({ id }) => id)]);
  const unnamed = [...stored].filter((id) => !named.has(id)).length;
  // The fixtures stored nine.
  expect(unnamed).toBeLessThanOrEqual(9 + unanswered);
  const halves = await rows(
    `SELECT e.event_id FROM events e LEFT JOIN profiles p USING (tenant_id, profile_id)
     WHERE e.tenant_id = $1 AND p.profile_id IS NULL`,
  );
  expect(halves).toEqual([]);
});
