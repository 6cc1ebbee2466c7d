import { startApp, type TestApp } from '../support/app';
import { type Answer, Client } from '../support/client';
import { rowsOf, withClient } from '../support/database';
import { aCampaign, type Campaign } from '../support/runtime';
import { until } from '../support/until';

let nodes: readonly TestApp[];
let campaign: Campaign;

beforeAll(async () => {
  nodes = await Promise.all([startApp(), startApp()]);
});
beforeEach(async () => {
  campaign = await aCampaign(nodes[0]!);
  await campaign.define('state.user.coins', 'number', { max: 100 });
});
afterAll(() => Promise.all(nodes.map((node) => node.stop())));

const send = (node: number, verb: string, fields: object): Promise<Answer> => {
  const client = new Client(nodes[node]!.url, campaign.workspace.admin.key);
  const path = `/v1/campaigns/${campaign.campaignId}/variables:${verb}`;
  return client.post(path, { scope: 'user', name: 'coins', ...fields });
};
const define = (node: number, max: number): Promise<Answer> => send(node, 'define', { type: 'number', max });

const stored = (): Promise<{ max: number; isArchived: boolean }[]> =>
  rowsOf(
    nodes[0]!.databaseUrl,
    'SELECT max, archived_at IS NOT NULL AS "isArchived" FROM variables WHERE tenant_id = $1',
    [campaign.workspace.tenantId],
  );

it('a variable that was archived is archived again where its new limits are taken back, whatever was not confirmed before', async () => {
  const answers = await withClient(nodes[0]!.databaseUrl, async (writer) => {
    await writer.query('BEGIN');
    await writer.query('SELECT pg_current_xact_id()');
    const first = define(0, 10);
    await until(async () => (await stored())[0]?.max === 10);
    const archived = await send(1, 'archive', {});
    // It waits for the writer in vain, as the first one does.
    const second = await define(1, 20);
    await writer.query('COMMIT');
    return [(await first).status, archived.status, second.status];
  });
  expect(answers.slice(1)).toEqual([200, 503]);
  expect(await stored()).toEqual([{ max: 100, isArchived: true }]);
});
