import { Jobs } from '../../src/platform/jobs/jobs';
import { newId } from '../../src/platform/values/ids';
import type { ReviewReplay } from '../../src/replay/entities/review-replay.entity';
import { ReplayPieces } from '../../src/replay/replay-pieces';
import { startApp, type TestApp } from '../support/app';
import { aCdpEvent, anExternalEvent, registerTypes } from '../support/builders';
import { answered, aWorkspace, Client, reviewEntries } from '../support/client';
import { freshDatabaseUrl, withClient } from '../support/database';
import { beginReplay, replayOnce, sendTooEarly } from '../support/review';
import { until } from '../support/until';

let service: TestApp;

beforeAll(async () => {
  // A database of its own: other services of this worker would take its jobs.
  service = await startApp({}, await freshDatabaseUrl('replay'));
});

afterAll(() => service.stop());

function aReplay(tenantId: string): ReviewReplay {
  return {
    tenantId,
    id: newId(),
    filter: { status: 'open' },
    sources: null,
    state: 'running',
    total: 3,
    accepted: 0,
    duplicate: 0,
    failed: 0,
    createdAt: new Date(),
    createdBy: 'test',
    finishedAt: null,
  };
}

describe('a refusal', () => {
  it('that is replayed by two processes at the same time is stored once', async () => {
    const other = await startApp({}, service.databaseUrl);
    const { admin } = await aWorkspace(service);
    await sendTooEarly(admin, 20);
    const entries = await reviewEntries(admin);
    await registerTypes(admin);
    const there = new Client(other.url, admin.key);
    // Registered types are in force everywhere within a second.
    await untilTaken(there);
    const outcomes = await Promise.all(
      entries.map(async ({ id }) => {
        const path = `/v1/review-entries/${id}:replay`;
        const replay = (client: Client) => answered(() => client.post(path, {}));
        const answers = await Promise.all([admin, there, admin, there].map(replay));
        // Who comes when the entry is closed already is told so.
        return answers.map(({ body }) => body.outcome?.status ?? body.error_code).sort();
      }),
    );
    for (const [first, ...others] of outcomes) {
      expect(first).toBe('accepted');
      for (const other of others) expect(['duplicate', 'entry_not_open']).toContain(other);
    }
    for (const { id } of entries) {
      const { body } = await admin.get(`/v1/review-entries/${id}`);
      expect(body).toMatchObject({ status: 'replayed', occurrences: 1, resolution: { outcome: 'accepted' } });
    }
    await other.stop();
  });
});

describe('a piece of a bulk replay', () => {
  it('that is begun again counts what it has done, and does it no second time', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    await sendTooEarly(admin, 3);
    await admin.post('/v1/external-events', anExternalEvent({ identity: {} }));
    const ids = (await reviewEntries(admin)).map(({ id }) => id);
    await registerTypes(admin);
    const replay = aReplay(tenantId);
    // The process was killed with two of them sent, and once more with all of them sent and none counted.
    await service.app.get(ReplayPieces).replay(replay, ids.slice(0, 2));
    for (let time = 0; time < 2; time += 1) {
      expect(await service.app.get(ReplayPieces).replay(replay, ids)).toEqual({ accepted: 3, duplicate: 0, failed: 1 });
    }
    const [failed] = await reviewEntries(admin, '&status=open');
    expect(failed).toMatchObject({ occurrences: 2, resolution: { outcome: 'error', jobId: replay.id } });
  });
});

describe('a piece of two bulk replays at the same time', () => {
  it('is counted by each of them once, and the same when either is begun again', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    await sendTooEarly(admin, 40);
    await admin.post('/v1/external-events', anExternalEvent({ identity: {} }));
    const ids = (await reviewEntries(admin)).map(({ id }) => id);
    await registerTypes(admin);
    const replays = [aReplay(tenantId), aReplay(tenantId)];
    const round = () => Promise.all(replays.map((replay) => service.app.get(ReplayPieces).replay(replay, ids)));
    const counts = await round();
    for (const { accepted, duplicate, failed } of counts) expect([accepted + duplicate, failed]).toEqual([40, 1]);
    expect(counts.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(40);
    expect(await round()).toEqual(counts);
  });
});

describe('a bulk replay', () => {
  it('is left to the process that is at it, and goes on when that one is gone', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    await sendTooEarly(admin, 5);
    await registerTypes(admin);
    await withClient(service.databaseUrl, async (other) => {
      // Nobody does jobs while the replay is asked for, so that this transaction is the first to be at it.
      await service.app.get(Jobs).stop();
      const jobId = await beginReplay(admin, {});
      await other.query('BEGIN');
      await other.query('SELECT FROM review_replays WHERE tenant_id = $1 AND id = $2 FOR UPDATE', [tenantId, jobId]);
      const worker = await startApp({}, service.databaseUrl);
      await untilPutOff(service.databaseUrl, `review-replay/${tenantId}/${jobId}`);
      expect(await reviewEntries(admin, '&status=open')).toHaveLength(5);
      await other.query('COMMIT');
      const replay = await replayOnce(() => admin, jobId);
      expect(replay).toMatchObject({ state: 'done', total: 5, accepted: 5 });
      await worker.stop();
    });
    expect(await reviewEntries(admin, '&status=open')).toEqual([]);
  });
});

/** Once the node takes events of the type. */
function untilTaken(client: Client): Promise<void> {
  return until(async () => (await client.post('/v1/cdp/events?dry_run=true', aCdpEvent())).status === 202);
}

/** Once a process has come to a job, and has left it for later. */
function untilPutOff(url: string, key: string): Promise<void> {
  return until(async () => {
    const { rows } = await withClient(url, (client) =>
      client.query('SELECT FROM cds_jobs.jobs WHERE key = $1 AND run_at > created_at', [key]),
    );
    return rows.length > 0;
  }, 10);
}
