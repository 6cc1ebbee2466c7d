import { sharedApp, type SharedApp } from '../support/app';
import { backfill } from '../support/backfills';
import { anExternalEvent } from '../support/builders';
import { runCds, type Ran } from '../support/cds';
import { aCampaign, type Campaign } from '../support/runtime';

const RANGE = ['--from', '2000-01-01', '--to', '2999-01-01T00:00:00Z'];
const POINTS = { path: 'state.user.points', op: 'inc', valueFrom: 'properties.amount' };

let service: SharedApp;
let campaign: Campaign;

beforeAll(async () => {
  service = await sharedApp({ processesEvents: true });
  campaign = await aCampaign(service);
  await campaign.define('state.user.points', 'number');
  const { admin } = campaign.workspace;
  for (const amount of [1, 2, 'x'])
    await admin.post('/v1/external-events', anExternalEvent({ attributes: { amount } }));
  const reaction = { name: 'reward', eventType: 'purchase', ops: [POINTS] };
  expect((await admin.post(`/v1/campaigns/${campaign.campaignId}/reactions:define`, reaction)).status).toBe(200);
});

function run(args: readonly string[], key = campaign.workspace.admin.key ?? ''): Promise<Ran> {
  const environment = { CDS_API_KEY: key, CDS_URL: service.url };
  return runCds(environment, ['reactions', 'backfill', '--campaign', campaign.campaignId, ...RANGE, ...args]);
}

describe('cds reactions backfill', () => {
  it('adds up what would change, then applies it, says what failed, and changes nothing again', async () => {
    const dry = await run(['reward', '--dry-run']);
    expect(dry.out).toBe(
      'done: 3 events, 3 matched, 2 applied, 0 waiting, 0 skipped, 1 failed\nstate.user.points  3 in 2 events  set 0 times',
    );
    const first = await run(['reward', '--json', '--no-progress']);
    expect([first.code, JSON.parse(first.out)]).toMatchObject([1, { state: 'done', applied: 2, failed: 1 }]);
    expect(first.said).toContain('review area');
    const again = await run(['reward', '--events-per-second', '50']);
    expect([again.code, again.out, again.said]).toEqual([
      ...[0, 'done: 3 events, 0 matched, 0 applied, 0 waiting, 3 skipped, 0 failed', ''],
    ]);
    expect(await backfill(campaign.workspace.admin, campaign.campaignId, 'reward')).toMatchObject({ applied: 0 });
  });

  it('says why a backfill was refused', async () => {
    const unknown = await run(['other']);
    expect([unknown.code, unknown.out]).toEqual([1, '']);
    expect(unknown.said).toContain('404');
    const { key = '' } = await campaign.workspace.client({ scopes: ['reactions:read'] });
    expect((await run(['reward'], key)).said).toContain('reactions:write');
    const noTime = await run(['reward', '--to', '2026-02-30']);
    expect([noTime.code, noTime.out]).toEqual([2, '']);
    expect(noTime.said).toContain('--to is no time: write it like 2026-01-02T03:04:05Z');
  });
});
