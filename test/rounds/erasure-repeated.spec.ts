import { randomUUID } from 'node:crypto';
import { CustomerErasure } from '../../src/identity/customer-erasure';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { Client } from '../support/client';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { largeEntries } from '../support/review';
import { aCampaign, inc, mutate, stateOf, summary, type Campaign } from '../support/runtime';
import { until } from '../support/until';

/*
 * An erasure is asked for twice, as after a time-out (docs/adr/0026). The second call begins while the first one is under way,
 * and goes on when that is answered.
 */

const POINTS = 'state.user.points';
const ERASE = '/v1/cdp/profiles:erase';

let url: string;
let nodes: TestApp[];
let campaign: Campaign;

beforeAll(async () => {
  url = await freshDatabaseUrl('erasure_repeated');
  nodes = [await startApp({}, url), await startApp({}, url)];
  campaign = await aCampaign(nodes[0]!);
  await campaign.define(POINTS, 'number');
});
afterAll(() => Promise.all(nodes.map((node) => node.stop())));

const admin = (node: number): Client => new Client(nodes[node]!.url, campaign.workspace.admin.key);

/**
 * Erases at both nodes. The second one has read who the person is, and that the erasure is unfinished; then it stands still until
 * the first one has answered and `meanwhile` is over.
 */
async function eraseTwice(value: string, meanwhile: () => Promise<unknown>): Promise<void> {
  const customers = nodes[1]!.app.get(CustomerErasure);
  const waitForEvents = customers.waitForEvents.bind(customers);
  let reached!: () => void;
  let goOn!: () => void;
  const isThere = new Promise<void>((resolve) => (reached = resolve));
  const mayGoOn = new Promise<void>((resolve) => (goOn = resolve));
  const spy = jest.spyOn(customers, 'waitForEvents').mockImplementationOnce(async (customer) => {
    await waitForEvents(customer);
    reached();
    await mayGoOn;
  });
  const second = admin(1).post(ERASE, { type: 'EXTERNAL', value });
  await isThere;
  expect((await admin(0).post(ERASE, { type: 'EXTERNAL', value })).status).toBe(200);
  await meanwhile();
  goOn();
  expect((await second).status).toBe(200);
  spy.mockRestore();
}

describe('an erasure that is asked for again while it is under way', () => {
  it('forgets no mutation of a participant who has begun anew since the first answer', async () => {
    const sub = `ann-${randomUUID()}`;
    const ann = campaign.participant({ sub });
    expect(summary(await mutate(ann, [inc(POINTS)], { mutation_id: 'first' }))).toBe('200 applied');
    const identity = { type: 'EXTERNAL', value: sub };
    expect((await admin(0).post('/v1/external-events', anExternalEvent({ identity }))).status).toBe(202);
    await eraseTwice(sub, async () => {
      expect(summary(await mutate(ann, [inc(POINTS)], { mutation_id: 'anew' }))).toBe('200 applied');
    });
    // As a client does it that has not got the answer.
    expect(summary(await mutate(ann, [inc(POINTS)], { mutation_id: 'anew' }))).toBe('200 duplicate');
    expect((await stateOf(ann)).user.points).toBe(1);
  });

  it('keeps the history of values of a participant who has begun anew since the first answer', async () => {
    const sub = `bob-${randomUUID()}`;
    const bob = campaign.participant({ sub });
    expect(summary(await mutate(bob, [inc(POINTS)], { mutation_id: 'first' }))).toBe('200 applied');
    await eraseTwice(sub, async () => {
      expect(summary(await mutate(bob, [inc(POINTS)], { mutation_id: 'anew' }))).toBe('200 applied');
    });
    const kept = 'SELECT 1 FROM value_changes WHERE tenant_id = $1 AND subject = $2';
    expect(await rowsOf(url, kept, [campaign.workspace.tenantId, sub])).toHaveLength(1);
  });

  it('stops within its steps once another process has finished it', async () => {
    const { tenantId } = campaign.workspace;
    const value = `dora-${randomUUID()}`;
    const event = anExternalEvent({ identity: { type: 'EXTERNAL', value } });
    expect((await admin(0).post('/v1/external-events', event)).status).toBe(202);
    const [profile] = await rowsOf<{ id: string }>(
      url,
      'SELECT profile_id AS id FROM profile_identifiers WHERE tenant_id = $1 AND value = $2',
      [tenantId, value],
    );
    const customers = nodes[1]!.app.get(CustomerErasure);
    const { erasure } = (await customers.begin(tenantId, profile!.id, { by: 'test', address: null }))!;
    const progress = (await customers.steps(erasure))!;
    const { goOn } = customers.stepsOf(erasure, progress, 'runtime', new AbortController().signal);
    await goOn();
    expect((await admin(0).post(ERASE, { type: 'EXTERNAL', value })).status).toBe(200);
    await until(() =>
      goOn().then(
        () => false,
        (error: unknown) => (error as { code: string }).code === 'unavailable',
      ),
    );
    expect(await customers.steps(erasure)).toBeUndefined();
  });

  it('keeps a refused event that was sent after the erasure was lifted', async () => {
    const sub = `cid-${randomUUID()}`;
    const identity = { type: 'EXTERNAL', value: sub };
    expect((await admin(0).post('/v1/external-events', anExternalEvent({ identity }))).status).toBe(202);
    await largeEntries(url, campaign.workspace.tenantId);
    const refused = anExternalEvent({ identity, occurred_at: 'yesterday' });
    await eraseTwice(sub, async () => {
      await nodes[0]!.app
        .get(CustomerErasure)
        .lift(campaign.workspace.tenantId, { kind: 'EXTERNAL', value: sub }, { by: 'test', address: null });
      expect((await admin(0).post('/v1/external-events', refused)).status).toBe(422);
    });
    const payloads = await rowsOf<{ payload: string | null }>(
      url,
      'SELECT payload FROM review_entries WHERE tenant_id = $1 AND external_event_id = $2',
      [campaign.workspace.tenantId, refused['external_event_id']],
    );
    expect(payloads.map(({ payload }) => payload !== null)).toEqual([true]);
  });
});
