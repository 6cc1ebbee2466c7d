import { appliesFrom, isSameReaction, type ReactionDefinition, storedOf } from './reaction';

const FIRST = new Date(1_000);
const NOW = new Date(2_000);
const WANTED: ReactionDefinition = {
  name: 'r',
  eventType: 'purchase',
  source: 'shop',
  when: { '!': [{ var: 'event.source' }] },
  enabled: true,
  ops: [{ path: 'state.user.points', op: 'inc', value: 1 }],
};
const STORED = storedOf(WANTED, FIRST);

describe('defining a reaction again', () => {
  it('with the same words changes nothing; any other word does', () => {
    expect(isSameReaction(STORED, WANTED)).toBe(true);
    expect(isSameReaction(storedOf({ ...WANTED, source: undefined }, FIRST), { ...WANTED, source: undefined })).toBe(
      true,
    );
    for (const change of [
      ...[{ eventType: 'refund' }, { source: undefined }, { when: undefined }, { enabled: false }],
      { ops: [{ path: 'state.user.points', op: 'inc', value: 2 }] as const },
    ])
      expect([change, isSameReaction(STORED, { ...WANTED, ...change })]).toEqual([change, false]);
  });

  it.each<[string, object, object, Date]>([
    ['with another condition goes on where it was', {}, { when: undefined }, FIRST],
    ['with other operations goes on where it was', {}, { ops: [] }, FIRST],
    ['switched off goes on where it was', {}, { enabled: false }, FIRST],
    ['switched on begins anew', { enabled: false }, {}, NOW],
    ['still switched off goes on where it was', { enabled: false }, { enabled: false, ops: [] }, FIRST],
    ['for another type begins anew', {}, { eventType: 'refund' }, NOW],
    ['for another source begins anew', {}, { source: 'till' }, NOW],
    ['for any source begins anew', {}, { source: undefined }, NOW],
  ])('%s', (_what, stored, wanted, from) => {
    expect(appliesFrom({ ...STORED, ...stored }, { ...WANTED, ...wanted }, NOW)).toEqual(from);
  });
});
