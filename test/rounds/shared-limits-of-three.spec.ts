import { VariablesService } from '../../src/variables/variables.service';
import { startApp, type TestApp } from '../support/app';
import { rowsOf, withClient } from '../support/database';
import { aCampaign, campaignOf, inc, mutate, type Campaign } from '../support/runtime';
import { until } from '../support/until';

/*
 * All campaigns that share a variable of an app declare the same limits (docs/adr/0064), not just any two of them: also where some
 * are changed together, as by `cds apply`, and a third one is not.
 */

const STOCK = 'state.app.stock';

let service: TestApp;
let campaigns: readonly [Campaign, Campaign, Campaign];

beforeAll(async () => {
  service = await startApp();
});
beforeEach(async () => {
  const first = await aCampaign(service, { campaignId: 'a' });
  campaigns = [first, campaignOf(first.workspace, first.issuer, 'b'), campaignOf(first.workspace, first.issuer, 'c')];
  for (const each of campaigns) await each.define(STOCK, 'number', { max: 100 });
});
afterAll(() => service.stop());

/** `changed`, or the code of the error. */
function change(changed: readonly Campaign[], max: number): Promise<string> {
  const definition = { scope: 'app', name: 'stock', type: 'number', max } as const;
  const defined = changed.map(({ campaignId }) => ({ campaignId, definition }));
  return service.app
    .get(VariablesService)
    .changeAll(campaigns[0].workspace.tenantId, { defined, archived: [] }, () => Promise.resolve())
    .then(
      () => 'changed',
      (error: unknown) => (error as { code: string }).code,
    );
}

async function limits(): Promise<unknown[]> {
  const { admin } = campaigns[0].workspace;
  const lists = await Promise.all(
    campaigns.map(({ campaignId }) => admin.get(`/v1/campaigns/${campaignId}/variables`)),
  );
  return lists.flatMap(({ body }) => body.variables.map(({ max }: { max: number }) => max));
}

const isDeclared = ({ workspace, campaignId }: Campaign, max: number): Promise<void> =>
  until(async () => {
    const declared = 'SELECT 1 FROM variables WHERE tenant_id = $1 AND campaign_id = $2 AND max = $3';
    return (await rowsOf(service.databaseUrl, declared, [workspace.tenantId, campaignId, max])).length === 1;
  });

it('are not changed in two campaigns alone', async () => {
  const [one, two, three] = campaigns;
  expect([await change([one, two], 1_000), await limits()]).toEqual(['variable_rules_conflict', [100, 100, 100]]);
  const answers = [await mutate(one.participant(), [inc(STOCK, 500)]), await mutate(three.participant(), [inc(STOCK)])];
  expect(answers.map(({ status }) => status)).toEqual([409, 200]);
  expect([await change(campaigns, 1_000), await limits()]).toEqual(['changed', [1_000, 1_000, 1_000]]);
});

it('are the same whatever limit or period they have, and however that is written', async () => {
  const rules = { min: -0.5, max: 1e2, period: { every: 'week', timezone: 'Europe/Berlin' } };
  const [one, two, three] = campaigns;
  for (const each of campaigns) await each.archive(STOCK);
  await one.define(STOCK, 'number', rules);
  await two.define(STOCK, 'number', { ...rules, period: { timezone: 'Europe/Berlin', every: 'week' }, default: 3 });
  const { admin } = one.workspace;
  const join = async (fields: object): Promise<number> => {
    const body = { scope: 'app', name: 'stock', type: 'number', ...rules, ...fields };
    return (await admin.post(`/v1/campaigns/${three.campaignId}/variables:define`, body)).status;
  };
  for (const other of [{ min: null }, { min: 0 }, { max: 101 }, { period: null }]) expect(await join(other)).toBe(409);
  expect(await join({ period: { every: 'day', timezone: 'Europe/Berlin' } })).toBe(409);
  expect(await join({})).toBe(200);
});

it('are taken back in all three, whichever of them has waited in vain', async () => {
  const [one, two, three] = campaigns;
  const outcome = await withClient(service.databaseUrl, async (writer) => {
    await writer.query('BEGIN');
    await writer.query('SELECT pg_current_xact_id()');
    const changing = change([three, two, one], 10);
    await isDeclared(three, 10);
    // It has given up by now; the other two still wait.
    await isDeclared(three, 100);
    await writer.query('COMMIT');
    return changing;
  });
  expect([outcome, await limits()]).toEqual(['unavailable', [100, 100, 100]]);
});
