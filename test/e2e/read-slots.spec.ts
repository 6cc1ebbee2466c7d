import { READS_AT_ONCE_MAX, READS_WAITING_MAX } from '../../src/platform/rate-limit/read-slots';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, expectProblem, type Answer, type Workspace } from '../support/client';
import { waitingForLocks, withClient } from '../support/database';
import { aFullPerson, preparePersons } from '../support/persons';
import { until } from '../support/until';

const OTHERS = 30;

let service: TestApp;
let busy: Workspace;
let other: Workspace;

beforeAll(async () => {
  service = await startApp();
});

afterAll(() => service.stop());

beforeEach(async () => {
  busy = await aWorkspace(service);
  other = await aWorkspace(service);
});

/** Keeps a table from being read while `work` runs, as the slowest of statements would. */
async function whileLocked(table: string, work: () => Promise<void>): Promise<void> {
  await withClient(service.databaseUrl, async (client) => {
    await client.query('BEGIN');
    await client.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    try {
      await work();
    } finally {
      await client.query('ROLLBACK');
    }
  });
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);
const statuses = (answers: readonly Answer[]): number[] => [...new Set(answers.map(({ status }) => status))].sort();

const blockedReads = (): Promise<number> => waitingForLocks(service.databaseUrl, { statement: 'event_types' });

/** How many reads wait for a place of their workspace. */
async function waitingReads(): Promise<number> {
  const text = (await other.admin.get('/metrics')).body as string;
  return Number(/^cds_reads\{state="waiting"\} (\d+)$/m.exec(text)?.[1]);
}

describe('a workspace whose reads are slow', () => {
  it('has a share of the connections, and the reads of another workspace are all answered', async () => {
    const slow: Promise<Answer>[] = [];
    await whileLocked('event_types', async () => {
      slow.push(...times(60, () => busy.admin.get('/v1/cdp/event-types')));
      await until(async () => (await blockedReads()) === READS_AT_ONCE_MAX);
      const answers = await Promise.all(times(OTHERS, () => other.admin.get('/v1/events?limit=200')));
      expect(statuses(answers)).toEqual([200]);
      expect(await blockedReads()).toBe(READS_AT_ONCE_MAX);
    });
    // What a slow machine has kept waiting for too long is refused, and nothing worse.
    for (const answer of await Promise.all(slow)) {
      if (answer.status !== 200) expectProblem(answer, 503, 'unavailable');
    }
    expect((await busy.admin.get('/v1/cdp/event-types')).status).toBe(200);
  });

  it('still sends events, which wait for no read', async () => {
    const slow: Promise<Answer>[] = [];
    await whileLocked('event_types', async () => {
      slow.push(...times(20, () => busy.admin.get('/v1/cdp/event-types')));
      await until(async () => (await blockedReads()) === READS_AT_ONCE_MAX);
      const answers = await Promise.all(times(10, () => busy.admin.post('/v1/external-events', anExternalEvent())));
      expect(statuses(answers)).toEqual([202]);
    });
    await Promise.all(slow);
  });

  it('is told to come again when too many of its reads wait already', async () => {
    const slow: Promise<Answer>[] = [];
    await whileLocked('event_types', async () => {
      slow.push(...times(READS_AT_ONCE_MAX + READS_WAITING_MAX, () => busy.admin.get('/v1/cdp/event-types')));
      await until(async () => (await waitingReads()) === READS_WAITING_MAX);
      const refused = await busy.admin.get('/v1/events');
      expectProblem(refused, 503, 'unavailable');
      expect(refused.headers.get('retry-after')).toBe('1');
      expect((await busy.admin.post('/v1/cdp/profiles:lookup', { type: 'EMAIL', value: 'a@example.com' })).status).toBe(
        503,
      );
      expect((await busy.admin.post('/v1/external-events?dry_run=true', anExternalEvent())).status).toBe(503);
      expect((await other.admin.get('/v1/events')).status).toBe(200);
    });
    await Promise.all(slow);
  });

  it('does no work for clients that have gone meanwhile', async () => {
    const slow: Promise<Answer>[] = [];
    const gone = new AbortController();
    await whileLocked('event_types', async () => {
      slow.push(...times(READS_AT_ONCE_MAX, () => busy.admin.get('/v1/cdp/event-types')));
      await until(async () => (await blockedReads()) === READS_AT_ONCE_MAX);
      const path = `${service.url}/v1/cdp/event-types`;
      const headers = { authorization: `Bearer ${busy.admin.key!}` };
      const asked = times(10, () => fetch(path, { headers, signal: gone.signal }).catch(() => undefined));
      await until(async () => (await waitingReads()) === 10);
      gone.abort();
      await Promise.all(asked);
    });
    await Promise.all(slow);
    await until(async () => (await waitingReads()) === 0);
    expect((await busy.admin.get('/v1/cdp/event-types')).status).toBe(200);
  });

  it('finishes an export, though it waits for a place at each step', async () => {
    await preparePersons(busy.admin);
    const { profileId } = await aFullPerson(busy.admin);
    const reads = Promise.all(times(40, () => busy.admin.get('/v1/events')));
    const { status, body } = await busy.admin.send(`/v1/cdp/profiles/${profileId}:export`, undefined);
    expect(status).toBe(200);
    expect((body as string).trim().split('\n').length).toBeGreaterThan(3);
    expect(statuses(await reads)).toEqual([200]);
  });
});
