import { setTimeout as pause } from 'node:timers/promises';
import { VariablesService } from '../../src/variables/variables.service';
import { startApp, type TestApp } from '../support/app';
import type { Answer } from '../support/client';
import { rowsOf, withClient } from '../support/database';
import { aCampaign, campaignOf, type Campaign } from '../support/runtime';
import { until } from '../support/until';

/*
 * Campaigns that share a variable of an app declare the same limits (docs/adr/0064), also where one of them takes its
 * definition back, because a transaction stays open for longer than a definition waits (docs/adr/0076).
 */

let service: TestApp;
let one: Campaign;
let two: Campaign;

beforeAll(async () => {
  service = await startApp();
});
beforeEach(async () => {
  one = await aCampaign(service);
  two = campaignOf(one.workspace, one.issuer);
});
afterAll(() => service.stop());

const define = ({ workspace, campaignId }: Campaign, max: number): Promise<Answer> =>
  workspace.admin.post(`/v1/campaigns/${campaignId}/variables:define`, {
    scope: 'app',
    name: 'stock',
    type: 'number',
    max,
  });

async function limitsOf({ workspace, campaignId }: Campaign): Promise<unknown[]> {
  const { variables } = (await workspace.admin.get(`/v1/campaigns/${campaignId}/variables`)).body;
  return variables.map(({ max }: { max: number }) => max);
}

const isDeclared = ({ workspace, campaignId }: Campaign, max: number): Promise<void> =>
  until(async () => {
    const declared = 'SELECT 1 FROM variables WHERE tenant_id = $1 AND campaign_id = $2 AND max = $3';
    return (await rowsOf(service.databaseUrl, declared, [workspace.tenantId, campaignId, max])).length === 1;
  });

/** While a transaction is open that has written something. */
function besideAWriter<T>(work: (commit: () => Promise<unknown>) => Promise<T>): Promise<T> {
  return withClient(service.databaseUrl, async (writer) => {
    await writer.query('BEGIN');
    await writer.query('SELECT pg_current_xact_id()');
    return work(() => writer.query('COMMIT'));
  });
}

it('are not confirmed where the campaign that they were agreed with has taken them back', async () => {
  expect((await define(one, 100)).status).toBe(200);
  const [narrowed, joined] = await besideAWriter(async (commit) => {
    const narrowing = define(one, 10);
    await isDeclared(one, 10);
    // So that it still waits when the other one has given up.
    await pause(3_000);
    const joining = define(two, 10);
    await isDeclared(two, 10);
    const first = await narrowing;
    await commit();
    return [first, await joining];
  });
  expect([narrowed.status, joined.status]).toEqual([503, 503]);
  expect([await limitsOf(one), await limitsOf(two)]).toEqual([[100], []]);
});

it('are taken back in all campaigns that are changed together', async () => {
  expect((await define(one, 100)).status).toBe(200);
  expect((await define(two, 100)).status).toBe(200);
  const definition = { scope: 'app', name: 'stock', type: 'number', max: 10 } as const;
  const [first, second] = [one, two].toSorted((a, b) => (a.campaignId < b.campaignId ? -1 : 1));
  const defined = [first!, second!].map(({ campaignId }) => ({ campaignId, definition }));
  const changed = await besideAWriter(async (commit) => {
    const changing = service.app
      .get(VariablesService)
      .changeAll(one.workspace.tenantId, { defined, archived: [] }, () => Promise.resolve())
      .then(
        () => 'changed',
        (error: unknown) => (error as { code: string }).code,
      );
    await isDeclared(first!, 10);
    // The first one has given up by now; the other one still waits.
    await isDeclared(first!, 100);
    await commit();
    return changing;
  });
  expect(changed).toBe('unavailable');
  expect([await limitsOf(one), await limitsOf(two)]).toEqual([[100], [100]]);
});
