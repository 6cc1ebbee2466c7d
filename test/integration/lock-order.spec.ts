import { randomUUID } from 'node:crypto';
import { participantName } from '../../src/runtime/domain/state-keys';
import { LOCK_STATES_OF_PERSON } from '../../src/runtime/state-of-person';
import { databaseUrl, rowsOf } from '../support/database';

it('the states of a person are locked in the order in which mutations lock them, so that neither waits in a circle', async () => {
  const url = await databaseUrl();
  const [tenantId, subject] = [randomUUID(), 'ann'];
  const campaigns = ['a', 'a-b', 'a.b', 'a_b', 'a0', 'B', 'b'];
  for (const campaignId of campaigns) {
    await rowsOf(
      url,
      `INSERT INTO participant_states (tenant_id, subject, campaign_id, values, system, updated_at, id)
       VALUES ($1, $2, $3, '{}', '{}', now(), $4)`,
      [tenantId, subject, campaignId, randomUUID()],
    );
  }
  const locked = await rowsOf<{ campaign_id: string }>(url, LOCK_STATES_OF_PERSON, [tenantId, subject]);
  const nameOf = (campaignId: string): string => participantName({ tenantId, subject, campaignId });
  const inOrder = campaigns.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  expect(locked.map(({ campaign_id: campaignId }) => campaignId)).toEqual(inOrder);
});
