import { registerTypes } from '../../support/builders';
import { Client } from '../../support/client';
import { freshDatabaseUrl, withClient } from '../../support/database';
import { beginReplay, replayOnce, sendTooEarly } from '../../support/review';
import { startServiceProcess, type ServiceProcess } from '../../support/service-process';
import { EVER_QUEUED_EVENTS } from '../../support/processing';

const KEY = 'review-replay-admin-key-review-replay-admin';
const EVENTS = 1_200;

/** What there is of the replayed events, however it came about. */
async function stored(url: string): Promise<unknown> {
  const { rows } = await withClient(url, (client) =>
    client.query(
      `SELECT (SELECT count(*)::int FROM events) AS events, (SELECT count(*)::int FROM ${EVER_QUEUED_EVENTS} q)
           AS queued,
         (SELECT count(*)::int FROM events e JOIN review_entries r USING (tenant_id, event_id)
          WHERE r.status = 'replayed' AND e.received_at = r.first_seen_at) AS timely,
         (SELECT count(*)::int FROM review_entries WHERE status = 'open') AS open,
         (SELECT count(*)::int FROM review_replay_pieces) AS pieces`,
    ),
  );
  return rows[0];
}

describe('kill -9 in the middle of a bulk replay', () => {
  it.each([
    ['and a restart', false],
    ['beside another process', true],
  ])(
    '%s: every event is stored once, and every one is counted',
    async (_what, isBeside) => {
      const url = await freshDatabaseUrl('replay_kill');
      const environment = { DATABASE_URL: url, BOOTSTRAP_ADMIN_KEY: KEY };
      const start = () => startServiceProcess(environment);
      const nodes: ServiceProcess[] = isBeside ? [await start(), await start()] : [await start()];
      const client = () => new Client(nodes.at(-1)?.url ?? '', KEY);
      await sendTooEarly(client(), EVENTS);
      await registerTypes(client());
      const jobId = await beginReplay(client(), {});
      for (let kill = 1; kill <= 3; kill += 1) {
        const { state } = await replayOnce(client, jobId, ({ done }) => done >= kill * 120);
        expect(state).toBe('running');
        await nodes.shift()?.kill();
        if (nodes.length === 0) nodes.push(await start());
      }
      const replay = await replayOnce(client, jobId, undefined, 60);
      expect(replay).toMatchObject({ state: 'done', total: EVENTS, done: EVENTS, accepted: EVENTS });
      expect(await stored(url)).toEqual({ events: EVENTS, queued: EVENTS, timely: EVENTS, open: 0, pieces: 0 });
      for (const node of nodes) expect(await node.stop()).toBe(0);
    },
    180_000,
  );
});

describe('SIGTERM in the middle of a bulk replay', () => {
  it('ends the process with 0 at once, and the next one goes on', async () => {
    const url = await freshDatabaseUrl('replay_stop');
    const environment = { DATABASE_URL: url, BOOTSTRAP_ADMIN_KEY: KEY };
    const first = await startServiceProcess(environment);
    const client = new Client(first.url, KEY);
    await sendTooEarly(client, EVENTS);
    await registerTypes(client);
    const jobId = await beginReplay(client, {});
    await replayOnce(
      () => client,
      jobId,
      ({ done }) => done >= 120,
    );
    const startedAt = performance.now();
    expect(await first.stop()).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    const second = await startServiceProcess(environment);
    const replay = await replayOnce(() => new Client(second.url, KEY), jobId);
    expect(replay).toMatchObject({ state: 'done', total: EVENTS, accepted: EVENTS });
    expect(await stored(url)).toEqual({ events: EVENTS, queued: EVENTS, timely: EVENTS, open: 0, pieces: 0 });
    expect(await second.stop()).toBe(0);
  });
});
