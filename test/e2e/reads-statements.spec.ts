import { DataSource } from 'typeorm';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, type Workspace } from '../support/client';
import { rowsOf } from '../support/database';

/** The page, its rows, customers, what became of events, names; and what the node asks by itself meanwhile. Of types there are sixty. */
const STATEMENTS_MAX = 20;

let service: TestApp;
let workspace: Workspace;

beforeAll(async () => {
  service = await startApp();
});

afterAll(() => service.stop());

beforeEach(async () => {
  workspace = await aWorkspace(service);
});

/** How often a read takes a connection of the pool, and how many it has at a time at most, beside the polls of changes. */
async function connectionsTaken(path: string): Promise<{ readonly taken: number; readonly atOnce: number }> {
  const { driver } = service.app.get<unknown, { driver: { master: NodeJS.EventEmitter } }>(DataSource);
  let [taken, inUse, atOnce] = [0, 0, 0];
  const acquire = (): void => {
    taken += 1;
    inUse += 1;
    atOnce = Math.max(atOnce, inUse);
  };
  const release = (): void => void (inUse -= 1);
  // The credential is known by then.
  await workspace.admin.get('/v1/api-keys');
  driver.master.on('acquire', acquire).on('release', release);
  try {
    const { status, body } = await workspace.admin.get(path);
    expect([status, body.items.length > 0]).toEqual([200, true]);
  } finally {
    driver.master.off('acquire', acquire).off('release', release);
  }
  return { taken, atOnce };
}

async function registerPersonal(count: number): Promise<void> {
  await rowsOf(
    service.databaseUrl,
    `WITH types AS (
       INSERT INTO event_types SELECT $1, 'type-' || n, now(), NULL FROM generate_series(1, $2::int) n RETURNING event_type
     )
     INSERT INTO event_type_versions
     SELECT $1, event_type, v, json_build_object('eventType', event_type, 'additionalProperties', 'allow', 'properties',
       json_build_object('secret_' || event_type || '_' || v, json_build_object('type', 'string', 'pii', true))), now(), 'test'
     FROM types, generate_series(1, 2) v`,
    [workspace.tenantId, count],
  );
}

describe('a page', () => {
  it('of events of as many types asks once for the names of their personal properties, and masks by them', async () => {
    await registerPersonal(60);
    const items = Array.from({ length: 60 }, (_, n) =>
      anExternalEvent({
        type: `type-${n + 1}`,
        attributes: {
          [`secret_type-${n + 1}_1`]: 'Zacharias',
          [`secret_type-${n + 1}_2`]: 'Zacharias',
          other: 'shown',
        },
      }),
    );
    expect((await workspace.admin.post('/v1/external-events:batch', { items })).status).toBe(200);
    const { taken, atOnce } = await connectionsTaken('/v1/events?limit=200');
    expect(taken).toBeLessThanOrEqual(STATEMENTS_MAX);
    // One of the read; changes and last uses of keys are looked at beside it.
    expect(atOnce).toBeLessThanOrEqual(3);
    const { body } = await workspace.admin.get('/v1/events?limit=200');
    for (const { eventType, properties } of body.items) {
      const hidden = { [`secret_${eventType}_1`]: 'Za***', [`secret_${eventType}_2`]: 'Za***' };
      expect(properties).toEqual({ ...hidden, other: 'shown' });
    }
    expect((await connectionsTaken('/v1/events?limit=200')).taken).toBeLessThanOrEqual(STATEMENTS_MAX);
  });

  it('of customers, or of participants, asks as often for 60 of them as for one', async () => {
    const define = { scope: 'user', name: 'points', type: 'number' };
    await workspace.admin.post('/v1/campaigns/spring/variables:define', define);
    for (let n = 1; n <= 60; n++) {
      const identity = { type: 'EXTERNAL', value: `customer-${n}` };
      expect((await workspace.admin.post('/v1/external-events', anExternalEvent({ identity }))).status).toBe(202);
      const path = `/v1/campaigns/spring/participants/customer-${n}/state:mutate`;
      const ops = [{ path: 'state.user.points', op: 'inc', value: 1 }];
      expect((await workspace.admin.post(path, { ops })).status).toBe(200);
    }
    for (const path of ['/v1/cdp/profiles', '/v1/campaigns/spring/participants']) {
      const { taken, atOnce } = await connectionsTaken(`${path}?limit=200`);
      expect([path, taken <= STATEMENTS_MAX, atOnce <= 3]).toEqual([path, true, true]);
      expect((await workspace.admin.get(`${path}?limit=200`)).body.items).toHaveLength(60);
    }
  });

  it('of review entries does so too, also where nobody knows their types', async () => {
    await registerPersonal(60);
    await rowsOf(
      service.databaseUrl,
      `INSERT INTO review_entries SELECT $1, gen_random_uuid(), 'error', 'validation', 'required', 'm', '[]', 'cdp', NULL, NULL,
         CASE WHEN n % 2 = 0 THEN 'type-' || (1 + n % 60) END, NULL,
         '{"properties":{"secret_type-7_1":"Zacharias","secret_type-' || (1 + n % 60) || '_2":"Zacharias"}}', 'json', 1,
         now() - n * interval '1 second', now(), 'open'
       FROM generate_series(1, 120) n`,
      [workspace.tenantId],
    );
    const { taken, atOnce } = await connectionsTaken('/v1/review-entries?limit=200');
    expect(taken).toBeLessThanOrEqual(STATEMENTS_MAX);
    expect(atOnce).toBeLessThanOrEqual(3);
    const { body } = await workspace.admin.get('/v1/review-entries?limit=200');
    for (const { eventType, payload } of body.items) {
      const shown = Object.values(payload.properties).filter((value) => value === 'Zacharias');
      // Of an unknown type every name counts that any type has; of a known one its own.
      expect(shown).toHaveLength(eventType === null || eventType === 'type-7' ? 0 : 1);
    }
  });

  it('of review entries without a type masks by what has just been registered', async () => {
    await rowsOf(
      service.databaseUrl,
      `INSERT INTO review_entries SELECT $1, gen_random_uuid(), 'error', 'validation', 'required', 'm', '[]', 'cdp', NULL, NULL, NULL,
         NULL, '{"properties":{"nickname":"Zacharias"}}', 'json', 1, now(), now(), 'open'`,
      [workspace.tenantId],
    );
    const shown = async () =>
      (await workspace.admin.get('/v1/review-entries')).body.items[0].payload.properties.nickname;
    expect(await shown()).toBe('Zacharias');
    const type = { eventType: 'late', properties: { nickname: { type: 'string', pii: true } } };
    expect((await workspace.admin.post('/v1/cdp/event-types', type)).status).toBe(201);
    expect(await shown()).toBe('Za***');
  });
});
