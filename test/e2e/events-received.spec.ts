import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, expectProblem, faultsOf, type Workspace } from '../support/client';
import { rowsOf } from '../support/database';
import { pagesOf } from '../support/pages';

const PATH = '/v1/events';
const START = '2026-01-01T00:00:00.000Z';

let service: TestApp;
let workspace: Workspace;

beforeAll(async () => {
  service = await startApp();
});
beforeEach(async () => {
  workspace = await aWorkspace(service);
});
afterAll(() => service.stop());

/** Events that were received one millisecond after the other from `START` on, each `copies` times; the id of each is its millisecond. */
async function received(count: number, copies = 1): Promise<void> {
  await rowsOf(
    service.databaseUrl,
    `INSERT INTO events (tenant_id, event_id, family, source, external_event_id, event_type, occurred_at, received_at,
       profile_id, identity, properties, content_hash, batch_id)
     SELECT $1, gen_random_uuid(), 'external', CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END, n::text || '.' || c, 'purchase', now(),
       $2::timestamptz + n * interval '1 ms', $3, '{}', '{}', '\\x00', gen_random_uuid()
     FROM generate_series(0, $4::int - 1) n, generate_series(1, $5::int) c`,
    [workspace.tenantId, START, randomUUID(), count, copies],
  );
}

const after = (ms: number): string => encodeURIComponent(new Date(Date.parse(START) + ms).toISOString());
const millisecondsOf = (items: readonly any[]): number[] =>
  items.map(({ receivedAt }) => Date.parse(receivedAt) - Date.parse(START));

describe('GET /v1/events?from=&to=', () => {
  it('lists what was received from the one time on and before the other', async () => {
    await received(5);
    const shown = async (query: string) => millisecondsOf((await workspace.admin.get(`${PATH}?${query}`)).body.items);
    expect(await shown(`from=${after(1)}&to=${after(3)}`)).toEqual([2, 1]);
    expect(await shown(`from=${after(3)}`)).toEqual([4, 3]);
    expect(await shown(`to=${after(2)}`)).toEqual([1, 0]);
    expect(await shown(`from=${after(2)}&to=${after(2)}`)).toEqual([]);
    expect(await shown(`from=${after(3)}&to=${after(1)}`)).toEqual([]);
    expect(await shown('from=2026-01-01T02:00:00.004%2B02:00')).toEqual([4]);
  });

  it('does so beside every other filter', async () => {
    await received(6);
    const shown = async (query: string) => millisecondsOf((await workspace.admin.get(`${PATH}?${query}`)).body.items);
    expect(await shown(`source=odd&from=${after(2)}`)).toEqual([5, 3]);
    expect(await shown(`source=even&state=queued&to=${after(4)}`)).toEqual([2, 0]);
    // By name; the stored id is that of the name only where the service has made it.
    const event = anExternalEvent();
    await workspace.admin.post('/v1/external-events', event);
    const name = `source=${String(event['source'])}&externalEventId=${String(event['external_event_id'])}`;
    const [{ receivedAt }] = (await workspace.admin.get(`${PATH}?${name}`)).body.items;
    const count = async (query: string) => (await workspace.admin.get(`${PATH}?${name}&${query}`)).body.items.length;
    const next = new Date(Date.parse(receivedAt) + 1).toISOString();
    expect([await count(`from=${receivedAt}`), await count(`from=${next}`)]).toEqual([1, 0]);
    expect([await count(`to=${receivedAt}`), await count(`to=${next}`)]).toEqual([0, 1]);
  });

  it.each([1, 3, 7, 200])(
    'shows each event once, %i at a time, while others come in, also of one millisecond',
    async (limit) => {
      await received(6, 4);
      const arrive = () => workspace.admin.post('/v1/external-events', anExternalEvent());
      const pages = await pagesOf(workspace.admin, `${PATH}?limit=${limit}&from=${after(1)}&to=${after(5)}`, arrive);
      const shown = pages.flat();
      expect(new Set(shown.map(({ eventId }) => eventId)).size).toBe(16);
      expect(millisecondsOf(shown)).toEqual([4, 3, 2, 1].flatMap((ms) => [ms, ms, ms, ms]));
      const all = await pagesOf(workspace.admin, `${PATH}?limit=${limit}&to=${after(6)}`, arrive);
      expect(new Set(all.flat().map(({ eventId }) => eventId)).size).toBe(24);
    },
  );

  it('says at its end that it is one, also where older events follow', async () => {
    await received(10);
    const { body } = await workspace.admin.get(`${PATH}?limit=2&from=${after(8)}`);
    expect([millisecondsOf(body.items), body.nextCursor]).toEqual([[9, 8], null]);
  });

  it('names both times that are none, and takes no cursor of other times', async () => {
    const wrong = await workspace.admin.get(`${PATH}?from=yesterday&to=2026-01-01T00:00:00`);
    expectProblem(wrong, 422, 'validation_failed', ['from format', 'to missing_offset']);
    await received(3);
    const { nextCursor } = (await workspace.admin.get(`${PATH}?limit=1&from=${after(0)}`)).body;
    const goesOn = await workspace.admin.get(`${PATH}?limit=1&from=${after(0)}&cursor=${nextCursor}`);
    expect(millisecondsOf(goesOn.body.items)).toEqual([1]);
    for (const query of ['', `&from=${after(1)}`, `&from=${after(0)}&to=${after(2)}`]) {
      const { status, body } = await workspace.admin.get(`${PATH}?limit=1&cursor=${nextCursor}${query}`);
      expect([status, faultsOf(body)]).toEqual([422, ['cursor format']]);
    }
  });
});
