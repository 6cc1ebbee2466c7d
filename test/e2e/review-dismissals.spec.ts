import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aClient, aWorkspace, type Client, expectProblem, reviewEntries } from '../support/client';
import { waitingForLocks, withClient } from '../support/database';
import { sendTooEarly } from '../support/review';
import { until } from '../support/until';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

let service: TestApp;

beforeAll(async () => {
  service = await startApp();
});

afterAll(() => service.stop());

async function begin(client: Client, body: object): Promise<string> {
  const answer = await client.post('/v1/review-entries:dismiss', body);
  expect(answer.status).toBe(200);
  return answer.body.jobId;
}

async function dismissed(client: Client, filter: object, note?: string): Promise<any> {
  const jobId = await begin(client, { filter, note });
  const read = async () => (await client.get(`/v1/review-dismissals/${jobId}`)).body;
  await until(async () => !['queued', 'running'].includes((await read()).state));
  return read();
}

describe('POST /v1/review-entries:dismiss', () => {
  it('closes all open entries that match, refusals and warnings, with who did it and why', async () => {
    const client = await aClient(service);
    // More than a step looks at.
    await sendTooEarly(client, 1_100);
    await sendTooEarly(client, 3, { source: 'crm' });
    await client.post('/v1/external-events', anExternalEvent({ source: 'crm', occurred_at: '2999-01-01T00:00:00Z' }));
    const filter = { reason: 'unregistered_event_type', source: 'shop.orders' };
    const done = await dismissed(client, filter, 'Test data');
    expect(done).toEqual({
      jobId: expect.any(String),
      state: 'done',
      total: 1_100,
      dismissed: 1_100,
      note: 'Test data',
      filter: { status: 'open', ...filter },
      createdAt: TIME,
      createdBy: expect.any(String),
      finishedAt: TIME,
    });
    expect((await reviewEntries(client, '&status=open')).map(({ source }) => source)).toEqual(Array(4).fill('crm'));
    const [entry] = await reviewEntries(client, '&status=dismissed');
    const { jobId, createdBy: by } = done;
    expect(entry?.resolution).toEqual({ action: 'dismissed', at: TIME, by, note: 'Test data', jobId });
    expect(await dismissed(client, {})).toMatchObject({ total: 4, dismissed: 4, note: null });
    expect((await client.get('/v1/review-entries:summary')).body.total).toBe(0);
  });

  it('masks contact data in the note, as views of the entries do', async () => {
    const client = await aClient(service);
    await sendTooEarly(client, 1);
    const note = 'asked jane@example.com about it';
    expect((await dismissed(client, {}, note)).note).toBe('asked j***@e***.com about it');
    const [entry] = await reviewEntries(client, '&status=dismissed');
    expect(entry?.resolution.note).toBe('asked j***@e***.com about it');
  });

  it('takes the entries that fit, whatever part of the filter is set, and counts them before as the summary does', async () => {
    const client = await aClient(service);
    await sendTooEarly(client, 3, { source: 'crm' });
    await sendTooEarly(client, 2, { eventType: 'anything' });
    await client.post('/v1/external-events', anExternalEvent({ identity: {} }));
    for (const [filter, expected] of [
      [{ eventType: 'nothing' }, 0],
      [{ source: 'crm', eventType: 'purchase' }, 3],
      [{ stage: 'validation' }, 1],
      [{ reason: 'unregistered_event_type', status: 'open' }, 2],
    ] as const) {
      const query = new URLSearchParams(filter).toString();
      const { total } = (await client.get(`/v1/review-entries:summary?${query}`)).body;
      expect([filter, total]).toEqual([filter, expected]);
      expect(await dismissed(client, filter)).toMatchObject({ state: 'done', total: expected, dismissed: expected });
    }
  });

  it('leaves what was closed before as it is, and everything of other workspaces', async () => {
    const [owner, stranger] = [await aClient(service), await aClient(service)];
    await Promise.all([sendTooEarly(owner, 2), sendTooEarly(stranger, 2)]);
    const [{ id }] = (await reviewEntries(owner)) as [{ id: string }];
    await owner.post(`/v1/review-entries/${id}:dismiss`, { note: 'by hand' });
    const { jobId, ...done } = await dismissed(owner, {}, 'in bulk');
    expect(done).toMatchObject({ total: 1, dismissed: 1 });
    expect((await owner.get(`/v1/review-entries/${id}`)).body.resolution.note).toBe('by hand');
    expect(await reviewEntries(stranger, '&status=open')).toHaveLength(2);
    expectProblem(await stranger.get(`/v1/review-dismissals/${jobId}`), 404, 'not_found');
  });

  it('leaves an entry open whose problem occurs again meanwhile, and ends after the step when it is cancelled', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    const events = await sendTooEarly(admin, 1_100);
    const { jobId, again } = await withClient(service.databaseUrl, async (database) => {
      await database.query('BEGIN');
      const first = 'SELECT id, event_id FROM review_entries WHERE tenant_id = $1 ORDER BY id LIMIT 1 FOR UPDATE';
      await database.query(first, [tenantId]);
      const begun = await begin(admin, { filter: {} });
      await until(() => isWaiting('review_entries'));
      const last = 'SELECT external_event_id AS id FROM review_entries WHERE tenant_id = $1 ORDER BY id DESC LIMIT 1';
      const [{ id }] = (await database.query(last, [tenantId])).rows;
      const event = events.find(({ externalEventId }) => externalEventId === id)!;
      expect((await admin.post('/v1/cdp/events', event)).status).toBe(422);
      await database.query('COMMIT');
      return { jobId: begun, again: id };
    });
    await until(async () => (await admin.get(`/v1/review-dismissals/${jobId}`)).body.state === 'done');
    const open = await reviewEntries(admin, '&status=open');
    expect(open.map(({ externalEventId }) => externalEventId)).toEqual([again]);
  });

  it.each([
    [{}, 'filter required'],
    [{ filter: 'all' }, 'filter type'],
    [{ filter: { status: 'dismissed' } }, 'filter.status enum'],
    [{ filter: { raeson: 'x' } }, 'filter.raeson unknown_field'],
    [{ filter: {}, note: 'x'.repeat(1_001) }, 'note too_long'],
  ])('refuses %j', async (body, fault) => {
    const client = await aClient(service);
    expectProblem(await client.post('/v1/review-entries:dismiss', body), 422, 'validation_failed', [fault]);
  });

  it('runs ten times in a workspace at most, also when many are started at once', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    const other = await aClient(service);
    await sendTooEarly(admin, 3);
    await sendTooEarly(other, 3);
    await withClient(service.databaseUrl, async (database) => {
      await database.query('BEGIN');
      await database.query('SELECT id FROM review_entries WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
      const start = (): Promise<any> => admin.post('/v1/review-entries:dismiss', { filter: {} });
      const answers = await Promise.all(Array.from({ length: 14 }, start));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
      const refused = answers.filter(({ status }) => status !== 200);
      for (const answer of refused) expectProblem(answer, 422, 'validation_failed', [' limit_exceeded']);
      expect(await begin(other, { filter: {} })).toEqual(expect.any(String));
      const { jobId } = answers.find(({ status }) => status === 200).body;
      await database.query('COMMIT');
      await until(async () => (await admin.get(`/v1/review-dismissals/${jobId}`)).body.state === 'done');
    });
    expect(await begin(admin, { filter: {} })).toEqual(expect.any(String));
  });

  it('takes review:write, and its progress review:read', async () => {
    const workspace = await aWorkspace(service);
    const reader = await workspace.client({ scopes: ['review:read'] });
    const writer = await workspace.client({ scopes: ['review:write'] });
    expectProblem(await reader.post('/v1/review-entries:dismiss', { filter: {} }), 403, 'insufficient_scope');
    const jobId = await begin(writer, { filter: {} });
    expectProblem(await writer.get(`/v1/review-dismissals/${jobId}`), 403, 'insufficient_scope');
    expectProblem(await reader.post(`/v1/review-dismissals/${jobId}:cancel`, {}), 403, 'insufficient_scope');
    expect((await reader.get(`/v1/review-dismissals/${jobId}`)).body.state).toBe('done');
    for (const wrong of [randomUUID(), 'x']) {
      expectProblem(await reader.get(`/v1/review-dismissals/${wrong}`), 404, 'not_found');
      expectProblem(await writer.post(`/v1/review-dismissals/${wrong}:cancel`, {}), 404, 'not_found');
    }
  });
});

describe('POST /v1/review-dismissals/{jobId}:cancel', () => {
  it('ends a dismissal after the step that is under way, and leaves the other entries open', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    await sendTooEarly(admin, 2_100);
    const body = await withClient(service.databaseUrl, async (database) => {
      await database.query('BEGIN');
      const first = 'SELECT id FROM review_entries WHERE tenant_id = $1 ORDER BY id LIMIT 1 FOR UPDATE';
      await database.query(first, [tenantId]);
      const jobId = await begin(admin, { filter: {} });
      await until(() => isWaiting('review_entries'));
      const cancelled = admin.post(`/v1/review-dismissals/${jobId}:cancel`, {});
      await until(() => isWaiting('review_dismissals'));
      await database.query('COMMIT');
      return (await cancelled).body;
    });
    expect(body).toMatchObject({ state: 'cancelled', total: 2_100, finishedAt: TIME });
    // A second step may begin before the cancellation has the lock.
    expect([1_000, 2_000]).toContain(body.dismissed);
    expect((await admin.get('/v1/review-entries:summary')).body.total).toBe(2_100 - body.dismissed);
    const again = await admin.post(`/v1/review-dismissals/${body.jobId}:cancel`, {});
    expect(again.body).toEqual((await admin.get(`/v1/review-dismissals/${body.jobId}`)).body);
  });
});

/** Whether a statement with this text waits for a lock. */
async function isWaiting(statement: string): Promise<boolean> {
  return (await waitingForLocks(service.databaseUrl, { statement })) > 0;
}
