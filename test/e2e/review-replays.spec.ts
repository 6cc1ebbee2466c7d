import { randomUUID } from 'node:crypto';
import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, anExternalEvent, PURCHASE, registerTypes } from '../support/builders';
import { aClient, aWorkspace, type Client, expectProblem, reviewEntries } from '../support/client';
import { QUEUED_EVENTS } from '../support/processing';
import { rowsOf, waitingForLocks, withClient } from '../support/database';
import { growth, metricsOf } from '../support/metrics';
import { beginReplay, replayOnce, sendTooEarly } from '../support/review';
import { until } from '../support/until';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

async function replayed(client: Client, filter: Record<string, unknown>): Promise<any> {
  const jobId = await beginReplay(client, filter);
  return replayOnce(() => client, jobId);
}

/** The outcome of a single replay, or of what closed the entry before it. */
async function replayedOrClosed(client: Client, entryId: string): Promise<any> {
  const response = await client.post(`/v1/review-entries/${entryId}:replay`, {});
  if (response.status === 200) return response.body.outcome;
  expectProblem(response, 409, 'entry_not_open');
  return { status: 'closed before' };
}

describe('POST /v1/review-entries:replay', () => {
  it('stores 500 events that came before their type, under their own ids and times of receipt, none twice', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    const events = await sendTooEarly(admin, 500, { occurredAt: undefined });
    await registerTypes(admin);
    const startedAt = performance.now();
    const jobId = await beginReplay(admin, { reason: 'unregistered_event_type', eventType: 'purchase' });
    const replay = await replayOnce(() => admin, jobId);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(replay).toEqual({
      jobId,
      state: 'done',
      total: 500,
      done: 500,
      accepted: 500,
      duplicate: 0,
      failed: 0,
      filter: { status: 'open', reason: 'unregistered_event_type', eventType: 'purchase' },
      createdAt: TIME,
      createdBy: expect.any(String),
      finishedAt: TIME,
    });
    const { rows } = await withClient(service.databaseUrl, (database) =>
      database.query(
        `SELECT e.external_event_id, e.received_at = r.first_seen_at AND e.occurred_at = r.first_seen_at AS timely,
           r.status, r.resolution->>'outcome' AS outcome, r.resolution->>'jobId' AS job
         FROM events e JOIN review_entries r ON r.tenant_id = e.tenant_id AND r.event_id = e.event_id
         WHERE e.tenant_id = $1`,
        [tenantId],
      ),
    );
    expect(rows.map((row: any) => row.external_event_id).sort()).toEqual(
      events.map((event) => event['externalEventId']).sort(),
    );
    for (const row of rows) {
      expect(row).toMatchObject({ timely: true, status: 'replayed', outcome: 'accepted', job: jobId });
    }
  });

  it('takes the refusals that fit, whatever part of the filter is set, and leaves the others', async () => {
    const client = await aClient(service);
    await sendTooEarly(client, 3);
    await sendTooEarly(client, 4, { source: 'crm' });
    await sendTooEarly(client, 2, { source: 'crm', eventType: 'anything' });
    await client.post('/v1/external-events', anExternalEvent({ source: 'crm', identity: {} }));
    await client.post('/v1/external-events', anExternalEvent({ occurred_at: '2999-01-01T00:00:00Z' }));
    await registerTypes(client);
    expect(await replayed(client, { reason: 'clock_skew' })).toMatchObject({ state: 'done', total: 0 });
    expect(
      await replayed(client, { source: 'crm', eventType: 'purchase', reason: 'unregistered_event_type' }),
    ).toMatchObject({ total: 4, accepted: 4 });
    expect(await replayed(client, { eventType: 'anything' })).toMatchObject({ total: 2, accepted: 2 });
    expect(await replayed(client, {})).toMatchObject({ total: 4, accepted: 3, failed: 1 });
    expect((await reviewEntries(client, '&status=open')).map(({ reason }) => reason).sort()).toEqual([
      ...['clock_skew', 'required'],
    ]);
  });

  it('counts what is refused again and what holds nothing to send, and each entry tells why', async () => {
    const client = await aClient(service);
    await sendTooEarly(client, 2, { properties: {} });
    await client.send('/v1/cdp/events', '{');
    await client.post('/v1/cdp/events/batch', { items: [aCdpEvent()], colour: 'red' });
    await registerTypes(client);
    const { jobId, ...replay } = await replayed(client, {});
    expect(replay).toMatchObject({ total: 4, done: 4, accepted: 0, failed: 4 });
    const entries = await reviewEntries(client);
    expect(entries.map(({ resolution }) => resolution.reason).sort()).toEqual([
      ...['not_replayable', 'not_replayable', 'required', 'required'],
    ]);
    for (const entry of entries) {
      expect(entry).toMatchObject({ status: 'open', occurrences: 2, resolution: { outcome: 'error', jobId } });
    }
  });

  it('stores each event once beside other replays, single ones and the sender himself', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    const events = await sendTooEarly(admin, 300);
    const entries = await reviewEntries(admin);
    await registerTypes(admin);
    const [first, second, ...outcomes] = await Promise.all([
      replayed(admin, {}),
      replayed(admin, {}),
      ...entries.slice(0, 30).map(({ id }) => replayedOrClosed(admin, id)),
      ...events.slice(0, 30).map(async (event) => (await admin.post('/v1/cdp/events', event)).body),
    ]);
    for (const { total, done, failed } of [first, second]) expect([done, failed]).toEqual([total, 0]);
    const single = outcomes.filter(({ status }) => status === 'accepted').length;
    const accepted: number[] = [first.accepted, second.accepted, single];
    expect(accepted.reduce((sum, count) => sum + count)).toBe(300);
    const { rows } = await withClient(service.databaseUrl, (database) =>
      database.query(
        `SELECT (SELECT count(*)::int FROM events WHERE tenant_id = $1) AS events,
           (SELECT count(*)::int FROM ${QUEUED_EVENTS} q WHERE tenant_id = $1) AS queued,
           (SELECT count(*)::int FROM review_entries WHERE tenant_id = $1 AND status = 'open') AS open`,
        [tenantId],
      ),
    );
    expect(rows).toEqual([{ events: 300, queued: 300, open: 0 }]);
  });

  it('counts large events step by step, whatever becomes of those behind them', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    await sendTooEarly(admin, 40, { eventType: 'anything', properties: { text: 'x'.repeat(60_000) } });
    await registerTypes(admin);
    const jobId = await withClient(service.databaseUrl, async (database) => {
      await database.query('BEGIN');
      const last =
        'SELECT FROM review_entries WHERE tenant_id = $1 ORDER BY first_seen_at DESC, id DESC LIMIT 1 FOR UPDATE';
      await database.query(last, [tenantId]);
      const begun = await beginReplay(admin, {});
      const { accepted, done } = await replayOnce(
        () => admin,
        begun,
        (replay) => replay.done > 0,
      );
      expect(accepted).toBe(done);
      expect(done).toBeLessThan(40);
      await database.query('COMMIT');
      return begun;
    });
    expect(await replayOnce(() => admin, jobId)).toMatchObject({ state: 'done', total: 40, accepted: 40, failed: 0 });
  });

  it('has the rights that its caller had', async () => {
    const workspace = await aWorkspace(service);
    await sendTooEarly(workspace.admin, 2);
    await sendTooEarly(workspace.admin, 3, { source: 'crm' });
    await registerTypes(workspace.admin, [PURCHASE]);
    const limited = await workspace.client({ scopes: ['review:write', 'review:read'], sources: ['crm'] });
    const open = await reviewEntries(workspace.admin, '&source=shop.orders');
    const replay = await replayed(limited, {});
    expect(replay).toMatchObject({ total: 3, accepted: 3, failed: 0 });
    // Nothing is done to entries of others, nor told in them.
    expect(await reviewEntries(workspace.admin, '&status=open')).toEqual(open);
    const done = await reviewEntries(workspace.admin, '&status=replayed');
    expect(done.map(({ source, resolution }) => [source, resolution.by])).toEqual(
      Array.from({ length: 3 }, () => ['crm', replay.createdBy]),
    );
  });

  it('replays nothing that was dismissed, and nothing of another workspace', async () => {
    const [owner, stranger] = [await aClient(service), await aClient(service)];
    await sendTooEarly(owner, 2);
    const [{ id }] = (await reviewEntries(owner)) as [{ id: string }];
    await owner.post(`/v1/review-entries/${id}:dismiss`, {});
    await Promise.all([registerTypes(owner), registerTypes(stranger)]);
    expect(await replayed(stranger, {})).toMatchObject({ state: 'done', total: 0 });
    const replay = await replayed(owner, {});
    expect(replay).toMatchObject({ total: 1, accepted: 1 });
    expect(await reviewEntries(owner, '&status=dismissed')).toMatchObject([{ id }]);
    expectProblem(await stranger.get(`/v1/review-replays/${replay.jobId}`), 404, 'not_found');
  });

  it.each([
    [{}, 'filter required'],
    [{ filter: 'all' }, 'filter type'],
    [{ filter: { status: 'closed' } }, 'filter.status enum'],
    [{ filter: { status: 'dismissed' } }, 'filter.status enum'],
    [{ filter: { status: 'superseded' } }, 'filter.status enum'],
    [{ filter: { raeson: 'x' } }, 'filter.raeson unknown_field'],
    [{ filter: {}, ids: [] }, 'ids unknown_field'],
  ])('refuses %j', async (body, fault) => {
    const client = await aClient(service);
    expectProblem(await client.post('/v1/review-entries:replay', body), 422, 'validation_failed', [fault]);
  });

  it('runs ten times in a workspace at most, also when many are started at once', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    const other = await aClient(service);
    await sendTooEarly(admin, 3);
    await sendTooEarly(other, 3);
    const started = await withClient(service.databaseUrl, async (database) => {
      await database.query('BEGIN');
      await database.query('SELECT id FROM review_entries WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
      const begin = (): Promise<any> => admin.post('/v1/review-entries:replay', { filter: {} });
      const answers = await Promise.all(Array.from({ length: 14 }, begin));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
      const refused = answers.filter(({ status }) => status !== 200);
      for (const answer of refused) expectProblem(answer, 422, 'validation_failed', [' limit_exceeded']);
      expect(await beginReplay(other, {})).toEqual(expect.any(String));
      await database.query('COMMIT');
      return answers.find(({ status }) => status === 200).body.jobId;
    });
    await replayOnce(() => admin, started);
    expect(await beginReplay(admin, {})).toEqual(expect.any(String));
  });

  it('takes review:write, and its progress review:read', async () => {
    const workspace = await aWorkspace(service);
    const reader = await workspace.client({ scopes: ['review:read'] });
    const writer = await workspace.client({ scopes: ['review:write'] });
    expectProblem(await reader.post('/v1/review-entries:replay', { filter: {} }), 403, 'insufficient_scope');
    const jobId = await beginReplay(writer, {});
    expectProblem(await writer.get(`/v1/review-replays/${jobId}`), 403, 'insufficient_scope');
    expect((await reader.get(`/v1/review-replays/${jobId}`)).body.state).toBe('done');
    for (const wrong of [randomUUID(), 'x']) {
      expectProblem(await reader.get(`/v1/review-replays/${wrong}`), 404, 'not_found');
    }
  });
});

describe('a job of a bulk replay', () => {
  it('does not fail while something else has the lock of the replay, and goes on afterwards', async () => {
    // Where the test itself holds the entries for so long, the first job gives up waiting for them, rightly.
    while ((await besideAnother()) > 1_000);
  });

  /** Returns for how many milliseconds the entries were locked. */
  async function besideAnother(): Promise<number> {
    const { tenantId, admin } = await aWorkspace(service);
    await sendTooEarly(admin, 3);
    await registerTypes(admin);
    const before = await metricsOf(service.url);
    const attempts = async () =>
      growth(before, await metricsOf(service.url), 'cds_job_attempts_total{task="review-replay"');
    let lockedAt = 0;
    let lockedMs = 0;
    const jobId = await withClient(service.databaseUrl, async (database) => {
      await database.query('BEGIN');
      lockedAt = performance.now();
      await database.query('SELECT FROM review_entries WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
      const begun = await beginReplay(admin, {});
      await until(() => isWaiting(''));
      await rowsOf(service.databaseUrl, `SELECT FROM cds_jobs.add_job('review-replay', payload := $1::json)`, [
        JSON.stringify({ tenantId, id: begun }),
      ]);
      await until(async () => Object.keys(await attempts()).length > 0);
      await database.query('COMMIT');
      lockedMs = performance.now() - lockedAt;
      return begun;
    });
    expect(await replayOnce(() => admin, jobId)).toMatchObject({ state: 'done', accepted: 3 });
    const outcomes = Object.keys(await attempts());
    if (lockedMs <= 1_000) expect(outcomes).toEqual(['cds_job_attempts_total{task="review-replay",outcome="done"}']);
    return lockedMs;
  }
});

describe('POST /v1/review-replays/{jobId}:cancel', () => {
  it('ends a replay after the step that is being sent, and leaves the other entries open', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    await sendTooEarly(admin, 250);
    await registerTypes(admin);
    const { jobId, done } = await withClient(service.databaseUrl, async (database) => {
      await database.query('BEGIN');
      const first = 'SELECT id FROM review_entries WHERE tenant_id = $1 ORDER BY first_seen_at, id LIMIT 1 FOR UPDATE';
      await database.query(first, [tenantId]);
      const begun = await beginReplay(admin, {});
      await until(() => isWaiting(''));
      const cancelled = admin.post(`/v1/review-replays/${begun}:cancel`, {});
      await until(() => isWaiting('review_replays'));
      await database.query('COMMIT');
      const { status, body } = await cancelled;
      expect(status).toBe(200);
      expect(body).toMatchObject({ state: 'cancelled', total: 250, accepted: body.done, finishedAt: TIME });
      return body;
    });
    // A second piece may begin before the cancellation has the lock.
    expect([100, 200]).toContain(done);
    expect((await admin.get('/v1/review-entries:summary')).body.total).toBe(250 - done);
    // It has no effect on a finished one.
    const again = await admin.post(`/v1/review-replays/${jobId}:cancel`, {});
    expect(again.body).toEqual((await admin.get(`/v1/review-replays/${jobId}`)).body);
    const rest = await replayed(admin, {});
    expect(rest).toMatchObject({ state: 'done', total: 250 - done, accepted: 250 - done });
    expect((await admin.post(`/v1/review-replays/${rest.jobId}:cancel`, {})).body).toEqual(rest);
  });

  it('takes review:write', async () => {
    const workspace = await aWorkspace(service);
    const jobId = await beginReplay(workspace.admin, {});
    const reader = await workspace.client({ scopes: ['review:read'] });
    expectProblem(await reader.post(`/v1/review-replays/${jobId}:cancel`, {}), 403, 'insufficient_scope');
    const unknown = await workspace.admin.post(`/v1/review-replays/${randomUUID()}:cancel`, {});
    expectProblem(unknown, 404, 'not_found');
  });
});

/** Whether a statement with this text waits for a lock. */
async function isWaiting(statement: string): Promise<boolean> {
  return (await waitingForLocks(service.databaseUrl, { statement })) > 0;
}
