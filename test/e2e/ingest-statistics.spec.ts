import { startApp, type TestApp } from '../support/app';
import { anExternalEvent, INGEST_FAMILIES, registerTypes } from '../support/builders';
import { aWorkspace, expectProblem, faultsOf, type Workspace } from '../support/client';
import { rowsOf } from '../support/database';
import { pagesOf } from '../support/pages';
import { byGroup, countLog, logged, statisticsOf, sumOf, uncounted } from '../support/statistics';

let service: TestApp;
let workspace: Workspace;

beforeAll(async () => {
  service = await startApp();
});
beforeEach(async () => {
  workspace = await aWorkspace(service);
});
afterAll(() => service.stop());

const send = async (body: object, status = 202) => {
  const answer = await workspace.admin.post('/v1/external-events', body);
  expect(answer.status).toBe(status);
  return answer;
};
const hoursFromNow = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();
const START = '2026-01-01T00:00:00.000Z';

describe.each(INGEST_FAMILIES)(
  'GET /v1/stats/ingest of $family events',
  ({ family, path, batchPath, anEvent, time, type }) => {
    it('counts what each answer said, single and in batches, before and after the log is counted', async () => {
      await registerTypes(workspace.admin);
      const { admin } = workspace;
      const now = { [time]: hoursFromNow(-1) };
      const events = Array.from({ length: 4 }, () => anEvent({ source: 'shop', ...now }));
      const wrong = anEvent({ source: 'app', [time]: 'yesterday' });
      await admin.post(path, events[0]);
      await admin.post(path, events[0]);
      await admin.post(path, wrong);
      await admin.post(batchPath, { items: [...events, events[1], wrong, 'no event'] });
      const counts = (accepted: number, duplicate: number, refused: number) => ({
        accepted,
        duplicate,
        refused,
        late: 0,
        clockSkewed: 0,
      });
      const expected = { app: counts(0, 0, 2), null: counts(0, 0, 1), shop: counts(4, 3, 0) };
      expect(byGroup(await statisticsOf(admin, 'groupBy=source'))).toEqual(expected);
      await countLog(service);
      expect(await uncounted(service.databaseUrl, workspace.tenantId)).toEqual({ events: 0, changes: 0 });
      for (const step of ['minute', 'hour', 'day']) {
        expect(byGroup(await statisticsOf(admin, `groupBy=source&step=${step}`))).toEqual(expected);
      }
      expect(byGroup(await statisticsOf(admin, 'groupBy=family'))).toEqual({ [family]: counts(4, 3, 3) });
      expect(byGroup(await statisticsOf(admin, 'groupBy=eventType'))).toEqual({
        [String(wrong[type])]: counts(4, 3, 2),
        null: counts(0, 0, 1),
      });
      expect(byGroup(await statisticsOf(admin))).toEqual({ null: counts(4, 3, 3) });
    });

    it('counts neither dry runs nor the replay of a refusal as answers, only the event that it stores', async () => {
      const { admin } = workspace;
      const event = anEvent({ source: 'shop' });
      await admin.post(`${path}?dry_run=true`, { ...event, [time]: 'yesterday' });
      await admin.post(`${batchPath}?dry_run=true`, { items: [event, event, 'no event'] });
      expect(await statisticsOf(admin)).toEqual([]);
      await admin.post(path, { ...event, [time]: 'yesterday' });
      const [{ id }] = (await admin.get('/v1/review-entries?status=open')).body.items;
      expect((await admin.post(`/v1/review-entries/${id}:replay`, { payload: 'wrong' })).status).not.toBe(500);
      await registerTypes(admin);
      const replayed = await admin.post(`/v1/review-entries/${id}:replay`, { payload: event });
      expect(replayed.body.outcome).toMatchObject({ status: 'accepted' });
      expect(sumOf(await statisticsOf(admin))).toMatchObject({ accepted: 1, duplicate: 0, refused: 1 });
    });
  },
);

describe('GET /v1/stats/ingest', () => {
  it('counts the events of a request that is refused as a whole', async () => {
    const { admin } = workspace;
    await admin.send('/v1/external-events', '{');
    await admin.post('/v1/external-events:batch', { items: [] });
    const items = Array.from({ length: 1_001 }, () => anExternalEvent({ source: 'shop' }));
    await admin.post('/v1/external-events:batch', { items });
    const limited = await workspace.client({ scopes: ['external-events:write'], sources: ['app'] });
    await limited.post('/v1/external-events', anExternalEvent({ source: 'shop' }));
    const [total, rejected] = [sumOf(await statisticsOf(admin)), await statisticsOf(admin, 'groupBy=source')];
    expect(total.accepted).toBe(0);
    expect(sumOf(rejected).refused).toBe(total.refused);
    expect(byGroup(rejected)['shop']).toMatchObject({ refused: 1 });
  });

  it('tells late events and those ahead of their time, by the limits of 24 hours', async () => {
    for (const hours of [-25, -23.9, 23.9, 25]) await send(anExternalEvent({ occurred_at: hoursFromNow(hours) }));
    await send(anExternalEvent({ occurred_at: undefined }));
    const counts = { accepted: 5, duplicate: 0, refused: 0, late: 1, clockSkewed: 1 };
    expect(sumOf(await statisticsOf(workspace.admin))).toEqual(counts);
    await countLog(service);
    expect(sumOf(await statisticsOf(workspace.admin))).toEqual(counts);
  });

  it('counts the events that GET /v1/events lists of the same range, to the millisecond, counted or not', async () => {
    const { admin, tenantId } = workspace;
    const day = 24 * 60 * 60_000;
    await logged(service.databaseUrl, tenantId, { from: START, count: 400, everyMs: 700_001, sources: 3, types: 5 });
    const ranges = Array.from({ length: 12 }, () => {
      const from = Date.parse(START) + Math.floor(Math.random() * 3 * day);
      return [from, from + Math.floor(Math.random() ** 3 * 0.9 * day) + 1] as const;
    });
    const expectSame = async () => {
      for (const [from, to] of ranges) {
        const range = `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;
        const events = (await pagesOf(admin, `/v1/events?limit=200&${range}`)).flat();
        for (const step of ['minute', 'hour', 'day']) {
          const items = await statisticsOf(admin, `${range}&step=${step}&groupBy=source`);
          const sources = Object.entries(byGroup(items)).map(([name, { accepted }]) => [name, accepted]);
          const names = [...new Set(events.map(({ source }) => source as string))].sort();
          expect(sources).toEqual(names.map((name) => [name, events.filter(({ source }) => source === name).length]));
        }
      }
    };
    await expectSame();
    await countLog(service);
    await expectSame();
    await rowsOf(service.databaseUrl, 'DELETE FROM ingest_statistics WHERE tenant_id = $1', [tenantId]);
    await expect(expectSame()).rejects.toThrow();
  });

  it('answers steps in order, under the time when they began, and only those with events', async () => {
    await logged(service.databaseUrl, workspace.tenantId, { from: START, count: 3, everyMs: 90 * 60_000 });
    const at = async (query: string) =>
      (await statisticsOf(workspace.admin, `from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&${query}`)).map(
        (item) => `${item.at} ${item.accepted}`,
      );
    const hours = ['2026-01-01T00:00:00.000Z 1', '2026-01-01T01:00:00.000Z 1', '2026-01-01T03:00:00.000Z 1'];
    const minutes = [START, '2026-01-01T01:30:00.000Z', '2026-01-01T03:00:00.000Z'].map((time) => `${time} 1`);
    for (let round = 0; round < 2; round += 1) {
      expect(await at('')).toEqual(hours);
      expect(await at('step=minute')).toEqual(minutes);
      expect(await at('step=day')).toEqual([`${START} 3`]);
      await countLog(service);
    }
  });

  it('shows the 200 groups with the most events, and the rest as other, which is not a source of that name', async () => {
    const { admin, tenantId } = workspace;
    await logged(service.databaseUrl, tenantId, { from: START, count: 1_000, everyMs: 1_000, sources: 250 });
    await send(anExternalEvent({ source: 'other' }));
    await send(anExternalEvent({ source: 'other' }));
    await rowsOf(service.databaseUrl, `UPDATE events SET received_at = $2 WHERE tenant_id = $1 AND source = 'other'`, [
      ...[tenantId, START],
    ]);
    const query = `from=${START}&to=2026-01-01T12:00:00Z&groupBy=source`;
    await rowsOf(
      service.databaseUrl,
      `UPDATE events SET source = 'source-7' WHERE tenant_id = $1 AND source = 'source-8'`,
      [tenantId],
    );
    const items = await statisticsOf(admin, query);
    expect(items[0]).toMatchObject({ group: 'source-7', accepted: 8 });
    const groups = byGroup(items);
    expect(Object.keys(groups)).toHaveLength(201);
    expect(groups['other*']).toMatchObject({ accepted: 1_002 - 8 - 199 * 4 });
    expect(sumOf(items).accepted).toBe(1_002);
    const few = await statisticsOf(admin, `from=${START}&to=2026-01-01T00:00:01Z&groupBy=source`);
    expect(few.filter(({ group }) => group === 'other')).toEqual([
      { at: START, group: 'other', accepted: 2, duplicate: 0, refused: 0, late: 0, clockSkewed: 2 },
    ]);
  });

  it('refuses more than 1,440 steps, a range without time, and what it does not know', async () => {
    const refused = async (query: string) => {
      const answer = await workspace.admin.get(`/v1/stats/ingest?${query}`);
      expectProblem(answer, 422, 'validation_failed');
      return faultsOf(answer.body);
    };
    expect(await refused(`from=${START}&to=2026-01-02T00:00:00.001Z&step=minute`)).toEqual(['step range']);
    expect(await statisticsOf(workspace.admin, `from=${START}&to=2026-01-02T00:00:00Z&step=minute`)).toEqual([]);
    expect(await refused(`from=${START}&to=${START}`)).toEqual(['from range']);
    expect(await refused('from=yesterday')).toEqual(['from format']);
    expect(await refused('step=week&groupBy=profile&limit=1')).toEqual(
      expect.arrayContaining(['step enum', 'groupBy enum', 'limit unknown_field']),
    );
  });

  it('shows a workspace nothing of another one', async () => {
    const other = await aWorkspace(service);
    await send(anExternalEvent({ source: 'shop' }));
    await send(anExternalEvent({ source: 'shop', occurred_at: 'yesterday' }), 422);
    for (let round = 0; round < 2; round += 1) {
      expect(await statisticsOf(other.admin, 'groupBy=source')).toEqual([]);
      expect(sumOf(await statisticsOf(workspace.admin))).toMatchObject({ accepted: 1, refused: 1 });
      await countLog(service);
    }
  });

  it('does not let refused events of ever new sources grow the tables without bound', async () => {
    const { admin, tenantId } = workspace;
    for (let batch = 0; batch < 2; batch += 1) {
      const items = Array.from({ length: 1_000 }, (_unused, n) => ({ source: `source-${batch}-${n}`, type: `t-${n}` }));
      await admin.post('/v1/external-events:batch', { items });
    }
    const groups = byGroup(await statisticsOf(admin, 'groupBy=source'));
    expect(sumOf(Object.values(groups) as never).refused).toBe(2_000);
    await countLog(service);
    const [{ rows }] = (await rowsOf<{ rows: number }>(
      service.databaseUrl,
      `SELECT count(*)::int AS rows FROM ingest_statistics WHERE tenant_id = $1 AND step = 'day'`,
      [tenantId],
    )) as [{ rows: number }];
    // Two minutes, where one ends in between.
    expect(rows).toBeLessThanOrEqual(1_001);
    expect(sumOf(await statisticsOf(admin)).refused).toBe(2_000);
  });

  it('of 1,440 steps with 201 groups each comes whole', async () => {
    const { admin, tenantId } = workspace;
    await rowsOf(
      service.databaseUrl,
      `INSERT INTO ingest_statistics
       SELECT $1, 'minute', $2::timestamptz + m * interval '1 minute', 'external', 'source-' || s, 'purchase', 1 + s % 7, 0, 0, 1, 0
       FROM generate_series(0, 1439) m, generate_series(1, 220) s`,
      [tenantId, START],
    );
    const query = `from=${START}&to=2026-01-02T00:00:00Z&step=minute&groupBy=source`;
    const ask = async () => {
      const headers = { authorization: `Bearer ${admin.key}` };
      const { status, headers: answered, body } = await fetch(`${service.url}/v1/stats/ingest?${query}`, { headers });
      const chunks: Uint8Array[] = [];
      for await (const chunk of body!) chunks.push(chunk);
      return { status, type: answered.get('content-type'), chunks };
    };
    let result = await ask();
    while (result.status === 503) result = await ask();
    expect(result).toMatchObject({ status: 200, type: 'application/json; charset=utf-8' });
    const { items } = JSON.parse(Buffer.concat(result.chunks).toString());
    expect(items).toHaveLength(1_440 * 201);
    expect(sumOf(items)).toMatchObject({ duplicate: 1_440 * 220 });
    expect(new Set(items.map(({ at }: { at: string }) => at)).size).toBe(1_440);
  });
});
