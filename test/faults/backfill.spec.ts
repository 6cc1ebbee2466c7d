import { readSample } from '../../src/demo/cdnow';
import { backfillRound } from '../support/backfill-round';
import { backfill, readBackfill, startBackfill } from '../support/backfills';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, Client } from '../support/client';
import { freshDatabaseUrl, rowsOf, withClient } from '../support/database';
import { brokenHistories } from '../support/histories';
import { startServiceProcess } from '../support/service-process';
import { until } from '../support/until';

/** `npm run test:faults` asks for all 6,919 and more kills. */
const PURCHASES = Number(process.env['FAULT_BACKFILL_PURCHASES'] ?? 1_500);
const KILLS = Number(process.env['FAULT_BACKFILL_KILLS'] ?? 1);
const SECONDS = 60 + PURCHASES / 50;

it(
  `${KILLS} kill -9 of both workers leave a backfilled campaign equal, to the cent, to one that was there from the start`,
  async () => {
    const purchases = readSample().slice(0, PURCHASES);
    const report = await backfillRound({ purchases, kills: KILLS, seconds: SECONDS });
    for (const first of report.first) {
      expect(first).toMatchObject({ state: 'done', applied: report.before, failed: 0, waiting: 0 });
    }
    for (const again of report.again) {
      expect(again).toMatchObject({ state: 'done', total: purchases.length, matched: 0, skipped: purchases.length });
    }
    expect(report.fromStart).toEqual(report.expected);
    expect(report.afterwards).toEqual(report.expected);
    expect(report.brokenHistories).toEqual([]);
    // Each event adds to a customer's points and to the campaign's revenue.
    expect(report.causes).toEqual({ backfill: 2 * report.before, reaction: 2 * report.live });
  },
  3 * SECONDS * 1_000,
);

const EVENTS = 60;

it('kill -9 while a backfill is cancelled leaves it running or cancelled, and the next one applies the rest once', async () => {
  const url = await freshDatabaseUrl('cancelled_backfill');
  let service = await startServiceProcess({ DATABASE_URL: url });
  try {
    const { admin, tenantId } = await aWorkspace({ url: service.url, databaseUrl: url });
    const client = (): Client => new Client(service.url, admin.key);
    const send = async (path: string, body: object): Promise<void> => {
      const answer = await client().post(path, body);
      expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
    };
    for (const name of ['points', 'last']) {
      await send('/v1/campaigns/spring/variables:define', { scope: 'user', name, type: 'number' });
    }
    const items = Array.from({ length: EVENTS }, (_unused, n) =>
      anExternalEvent({ identity: { type: 'EXTERNAL', value: 'ann' }, attributes: { n } }),
    );
    await send('/v1/external-events:batch', { items });
    const ops = [
      { path: 'state.user.points', op: 'inc', value: 1 },
      { path: 'state.user.last', op: 'set', valueFrom: 'properties.n' },
    ];
    await send('/v1/campaigns/spring/reactions:define', { name: 'reward', eventType: 'purchase', ops });
    const points = async (): Promise<number> => {
      const [row] = await rowsOf<{ points: number }>(
        url,
        `SELECT (values -> 'points')::int AS points FROM participant_states WHERE tenant_id = $1`,
        [tenantId],
      );
      return row?.points ?? 0;
    };
    const cancel = (id: string) => client().post(`/v1/campaigns/spring/reactions/reward/backfills/${id}:cancel`, {});
    const stateOf = async (id: string) => (await readBackfill(client(), 'spring', 'reward', id)).state;

    for (const isCommitted of [false, true]) {
      const before = await points();
      const id = await startBackfill(client(), 'spring', 'reward', { eventsPerSecondMax: 5 });
      await until(async () => (await points()) > before, 60);
      await withClient(url, async (holder) => {
        if (!isCommitted) {
          await holder.query('BEGIN');
          await holder.query('SELECT version FROM reaction_sets WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
        }
        const lost = cancel(id).catch(() => 'lost');
        await (isCommitted ? lost : until(async () => (await changingRequests(url)) > 0, 30));
        await service.kill();
        await lost;
        if (!isCommitted) await holder.query('COMMIT');
      });
      service = await startServiceProcess({ DATABASE_URL: url });
      expect(['running', 'cancelled']).toContain(await stateOf(id));
      if (isCommitted) expect(await stateOf(id)).toBe('cancelled');
      expect((await cancel(id)).body.state).toBe('cancelled');
      const applied = await points();
      expect((await readBackfill(client(), 'spring', 'reward', id)).applied).toBe(applied - before);
      expect(applied).toBeLessThan(EVENTS);
    }
    const applied = await points();
    expect(await backfill(client(), 'spring', 'reward')).toMatchObject({ state: 'done', applied: EVENTS - applied });
    expect(await points()).toBe(EVENTS);
    expect(await brokenHistories(url, tenantId)).toEqual([]);
  } finally {
    await service.stop();
  }
});

/** Requests that change the reactions of a workspace, which the test holds meanwhile. */
async function changingRequests(url: string): Promise<number> {
  const sessions = await rowsOf(
    url,
    `SELECT 1 FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'active' AND starts_with(query, 'INSERT INTO reaction_sets')`,
  );
  return sessions.length;
}
