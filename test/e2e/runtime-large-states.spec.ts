import { sharedApp, type SharedApp } from '../support/app';
import type { Client } from '../support/client';
import { aCampaign, mutateInTheEnd, set, summary, type Campaign } from '../support/runtime';

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

const READS = 200;
const VARIABLES = 100;
const TEXT = 'x'.repeat(4_096);

/** Sets as much as a campaign can declare: 1.2 MB. */
async function fill(campaign: Campaign, participant: Client): Promise<void> {
  for (const scope of ['user', 'campaign', 'app']) {
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
