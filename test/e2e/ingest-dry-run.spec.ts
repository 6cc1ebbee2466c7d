import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, INGEST_FAMILIES, registerTypes } from '../support/builders';
import { aWorkspace, type Answer, type Client, expectProblem, reviewEntries, type Workspace } from '../support/client';
import { withClient } from '../support/database';

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

/** Rows of this workspace in every table, but for the one that a job writes every minute. */
async function rowCounts({ tenantId, admin }: Workspace): Promise<Record<string, number>> {
  // Stores what earlier answers have counted in memory.
  await admin.get('/v1/stats/ingest');
  return withClient(service.databaseUrl, async (client) => {
    const tables = await client.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'tenant_id'
         AND table_name <> 'ingest_statistics_progress'`,
    );
    const counts: Record<string, number> = {};
    for (const { name } of tables.rows) {
      const found = await client.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${name} WHERE tenant_id = $1`, [
        tenantId,
      ]);
      counts[name] = found.rows[0]?.n ?? -1;
    }
    return counts;
  });
}

interface Trial {
  readonly workspace: Workspace;
  /** May send `shop.orders` alone. */
  readonly client: Client;
}

async function aTrial(): Promise<Trial> {
  const workspace = await aWorkspace(service);
  await registerTypes(workspace.admin);
  const client = await workspace.client({
    scopes: ['external-events:write', 'cdp-events:write'],
    sources: ['shop.orders'],
  });
  return { workspace, client };
}

/** What two answers to the same request have in common. */
const essence = ({ status, body }: Answer) => ({ status, body: { ...body, request_id: undefined } });

/** Sends it dry twice, proves that nothing was written, and then sends it live: three times the same answer. */
async function expectRehearsal({ workspace, client }: Trial, path: string, text: string): Promise<Answer> {
  const before = await rowCounts(workspace);
  const rehearsals = [await client.send(`${path}?dry_run=true`, text), await client.send(`${path}?dry_run=true`, text)];
  expect(await rowCounts(workspace)).toEqual(before);
  const live = await client.send(path, text);
  for (const rehearsal of rehearsals) expect(essence(rehearsal)).toEqual(essence(live));
  return live;
}

describe.each(INGEST_FAMILIES)('?dry_run=true in the $family family', (family) => {
  const { path, batchPath, anEvent, anEventWith, id, type, time, properties } = family;

  it.each([
    ['a right event', 202, () => anEvent()],
    ['an event far ahead of its time', 202, () => anEvent({ [time]: '2999-01-01T00:00:00Z' })],
    [
      'faults in every field',
      422,
      () => ({ [id]: 1, [type]: '', [time]: 'x', identity: {}, [properties]: [], colour: 1 }),
    ],
    ['a foreign source', 403, () => anEvent({ source: 'crm.contacts' })],
    ['no object', 422, () => ['x']],
  ])('answers %s as the live call does, and writes nothing', async (_what, status, body) => {
    const trial = await aTrial();
    expect((await expectRehearsal(trial, path, JSON.stringify(body()))).status).toBe(status);
  });

  it('answers bodies that are no JSON, or too large, as the live call does, and writes nothing', async () => {
    const trial = await aTrial();
    expectProblem(await expectRehearsal(trial, path, '{"source":'), 400, 'malformed_json');
    expectProblem(await expectRehearsal(trial, path, ' '.repeat(256 * 1024 + 1)), 413, 'payload_too_large');
    expectProblem(await expectRehearsal(trial, batchPath, '{"items":[]}'), 422, 'validation_failed');
    expect(await reviewEntries(trial.workspace.admin)).not.toEqual([]);
  });

  it('knows duplicates, also those whose content differs, and opens no warning', async () => {
    const trial = await aTrial();
    const event = anEventWith({ amount: 1 });
    const first = await trial.client.post(path, event);
    for (const copy of [event, { ...event, [properties]: { amount: 2 } }]) {
      const before = await rowCounts(trial.workspace);
      const answer = await trial.client.post(`${path}?dry_run=true`, copy);
      expect([answer.status, answer.body]).toEqual([
        200,
        { status: 'duplicate', original_event_id: first.body.event_id },
      ]);
      expect(await rowCounts(trial.workspace)).toEqual(before);
    }
  });

  it('answers a mixed batch as the live call does, item by item, and writes nothing', async () => {
    const trial = await aTrial();
    const [known, repeated] = [anEvent(), anEvent()];
    await trial.client.post(path, known);
    const items = [
      ...[anEvent(), known, repeated, { ...repeated, identity: {} }, repeated, anEvent({ source: 'crm.contacts' })],
      ...[null, 4711, {}, anEvent({ [time]: '2999-01-01T00:00:00Z' })],
    ];
    const { status, body } = await expectRehearsal(trial, batchPath, JSON.stringify({ items }));
    expect(status).toBe(200);
    expect(body.results.map((result: any) => result.error_code ?? result.status)).toEqual([
      ...['accepted', 'duplicate', 'accepted', 'duplicate', 'duplicate', 'source_not_allowed'],
      ...['validation_failed', 'validation_failed', 'validation_failed', 'accepted'],
    ]);
  });

  it('closes no entry of an event that would come in right', async () => {
    const { workspace, client } = await aTrial();
    const event = anEvent();
    await client.post(path, { ...event, identity: {} });
    expect((await client.post(`${path}?dry_run=true`, event)).status).toBe(202);
    expect(await reviewEntries(workspace.admin)).toMatchObject([{ status: 'open', occurrences: 1 }]);
  });

  it('is live when it says false', async () => {
    const { workspace, client } = await aTrial();
    expect((await client.post(`${path}?dry_run=false`, anEvent())).status).toBe(202);
    expect((await client.post(`${batchPath}?dry_run=false`, { items: [anEvent()] })).status).toBe(200);
    expect((await workspace.admin.get('/v1/events')).body.items).toHaveLength(2);
  });

  it.each(['banana', '', 'TRUE', '1', 'true&dry_run=true'])(
    'is refused when it says "%s", and nothing is stored',
    async (value) => {
      const { workspace, client } = await aTrial();
      expectProblem(await client.post(`${path}?dry_run=${value}`, anEvent()), 422, 'validation_failed', [
        'dry_run enum',
      ]);
      expectProblem(
        await client.post(`${batchPath}?dry_run=${value}`, { items: [anEvent()] }),
        422,
        'validation_failed',
        ['dry_run enum'],
      );
      expect((await workspace.admin.get('/v1/events')).body.items).toEqual([]);
    },
  );

  it.each([
    ['dryRun=true', 'dryRun unknown_field'],
    ['dry-run=true', '["dry-run"] unknown_field'],
    ['dry_run=true&colour=red', 'colour unknown_field'],
  ])('is not taken for live when it is misspelt: %s', async (query, fault) => {
    const { workspace, client } = await aTrial();
    expectProblem(await client.post(`${path}?${query}`, anEvent()), 422, 'validation_failed', [fault]);
    expect((await workspace.admin.get('/v1/events')).body.items).toEqual([]);
  });

  it('costs no event its place in review when its own value is wrong', async () => {
    const { workspace, client } = await aTrial();
    const events = [anEvent(), anEvent()];
    for (const event of events) await client.post(`${path}?dry_run=banana`, event);
    const entries = await reviewEntries(workspace.admin);
    expect(entries.map(({ payload }) => payload?.[id]).sort()).toEqual(events.map((event) => event[id]).sort());
  });

  it('is looked at after the content type, the size and the JSON of the body', async () => {
    const { client } = await aTrial();
    const send = (text: string, headers = {}) => client.send(`${path}?dry_run=banana`, text, { headers });
    expectProblem(await send('x', { 'content-type': 'text/plain' }), 415, 'unsupported_media_type');
    expectProblem(await send(' '.repeat(256 * 1024 + 1)), 413, 'payload_too_large');
    expectProblem(await send('{"source":'), 400, 'malformed_json');
  });
});

describe('?dry_run=true where identities conflict', () => {
  const conflict = { email: 'jane@example.com', deviceKey: 'device-0002' };
  const customers = [
    aCdpEvent({ identity: { externalUserId: 'customer-0001', email: conflict.email } }),
    aCdpEvent({ identity: { externalUserId: 'customer-0002', deviceKey: conflict.deviceKey } }),
  ];

  it('answers 409 as the live call does, and writes nothing', async () => {
    const trial = await aTrial();
    for (const event of customers) await trial.client.post('/v1/cdp/events', event);
    const answer = await expectRehearsal(trial, '/v1/cdp/events', JSON.stringify(aCdpEvent({ identity: conflict })));
    expectProblem(answer, 409, 'identity_conflict');
  });

  it('knows the customers that earlier items of the same batch would make', async () => {
    const trial = await aTrial();
    const refused = aCdpEvent({ identity: conflict });
    const items = [...customers, refused, { ...refused, properties: { amount: 2 } }, refused];
    const { body } = await expectRehearsal(trial, '/v1/cdp/events/batch', JSON.stringify({ items }));
    expect(body.results.map((result: any) => result.error_code ?? result.status)).toEqual([
      ...['accepted', 'accepted', 'identity_conflict', 'identity_conflict', 'identity_conflict'],
    ]);
  });
});
