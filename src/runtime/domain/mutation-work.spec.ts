import { PATH_NAME } from '../../platform/values/text/path-name';
import { newId } from '../../platform/values/ids';
import { Declarations } from '../../variables/domain/declarations';
import { ledgerOf, type MutationWork } from './mutation-work';
import { rowsOf, settleMutations } from './settle-mutations';

const DECLARATIONS = Declarations.from([{ scope: 'campaign', name: 'total', type: 'number' }]);

describe('a ledger', () => {
  it('is nobody’s and no campaign’s, and the same for the same id', () => {
    const id = newId();
    const { subject, campaignId } = ledgerOf('summer', id);
    expect([subject, PATH_NAME.test(campaignId), ledgerOf('summer', id)]).toEqual(['', false, { subject, campaignId }]);
  });

  it('is one of 256 of the campaign, all of them in use', () => {
    const used = new Set(Array.from({ length: 5_000 }, () => ledgerOf('summer', newId()).campaignId));
    expect(used.size).toBe(256);
  });

  it('is locked instead of a participant, and keeps that a mutation was applied, and nothing of what it changed', () => {
    const work: MutationWork = {
      ...{ workId: newId(), tenantId: 't', mutationKey: 'reaction:e:r', fingerprint: '', sessionId: null },
      ...{ declarations: DECLARATIONS, operations: [{ path: 'state.campaign.total', op: 'inc', value: 2 }] },
      owner: { campaignId: 'summer', appId: 'default', subject: '' },
      ledger: ledgerOf('summer', '00000000-0000-8000-8000-000000000007'),
    };
    const key = { tenantId: 't', subject: '', campaignId: 'summer#7' };
    const { participants } = rowsOf([work]);
    expect(participants).toEqual([key]);
    const document = { values: {}, system: { sessionId: null } };
    const { outcomes, changes } = settleMutations([work], {
      ...{ participants: [{ key, document }], shared: [], outcomes: [] },
    });
    expect(outcomes).toEqual([
      { status: 'applied', mutations: [{ path: 'state.campaign.total', previous: null, current: 2 }] },
    ]);
    expect(changes.participants).toEqual([]);
    expect(changes.shared).toMatchObject([{ key: { ownerId: 'summer', name: 'total' }, value: 2 }]);
    expect(changes.outcomes).toMatchObject([{ key: { ...key, mutationKey: 'reaction:e:r' }, mutations: [] }]);
  });
});
