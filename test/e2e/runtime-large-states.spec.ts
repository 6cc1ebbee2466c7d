import { randomUUID } from 'node:crypto';
import { sharedApp, type SharedApp } from '../support/app';
import type { Client } from '../support/client';
import { withClient } from '../support/database';
import { aCampaign, mutateInTheEnd, set, summary, type Campaign } from '../support/runtime';

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

const READS = 200;
const VARIABLES = 100;
const TEXT = 'x'.repeat(4_096);

/** Sets as much as a campaign can declare: 1.2 MB, or 0.4 MB of one scope. */
async function fill(campaign: Campaign, participant: Client, scopes = ['user', 'campaign', 'app']): Promise<void> {
  for (const scope of scopes) {
    const paths = Array.from({ length: VARIABLES }, (_, index) => `state.${scope}.text${index}`);
    await Promise.all(paths.map((path) => campaign.define(path, 'string')));
    for (let from = 0; from < paths.length; from += VARIABLES / 2) {
      const ops = paths.slice(from, from + VARIABLES / 2).map((path) => set(path, TEXT));
      expect(summary(await mutateInTheEnd(participant, ops))).toBe('200 applied');
    }
  }
}

it('answers every one of many reads of large states at once, and those of other workspaces among them', async () => {
  const [large, small] = [await aCampaign(service), await aCampaign(service)];
  const [reader, other] = [large.participant(), small.participant()];
  await fill(large, reader);
  const answers = await Promise.all(
    Array.from({ length: READS }, (_, index) => (index % 10 === 9 ? other : reader).get('/v1/runtime/state')),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
});

it('changes large states in small batches, also those that the process has not seen before', async () => {
  const campaign = await aCampaign(service);
  await fill(campaign, campaign.participant(), ['user']);
  const subjects = Array.from({ length: 24 }, () => randomUUID());
  await query(
    `INSERT INTO participant_states (tenant_id, subject, campaign_id, values, system, updated_at, id)
     SELECT tenant_id, subjects.subject, campaign_id, values, system, updated_at, gen_random_uuid()
     FROM participant_states, unnest($3::text[]) AS subjects (subject) WHERE tenant_id = $1 AND campaign_id = $2`,
    [campaign.workspace.tenantId, campaign.campaignId, subjects],
  );
  const answers = await Promise.all(
    subjects.map((sub) => mutateInTheEnd(campaign.participant({ sub }), [set('state.user.text0', 'short')])),
  );
  expect(new Set(answers.map(summary))).toEqual(new Set(['200 applied']));
  const batches = await query(
    `SELECT count(*)::int AS states FROM participant_states WHERE tenant_id = $1 AND subject = ANY($2::text[])
     GROUP BY xmin::text`,
    [campaign.workspace.tenantId, subjects],
  );
  expect(Math.max(...batches.map(({ states }) => states))).toBeLessThanOrEqual(6);
});

async function query(statement: string, values: readonly unknown[]): Promise<readonly { states: number }[]> {
  return withClient(service.databaseUrl, async (client) => (await client.query(statement, [...values])).rows);
}
