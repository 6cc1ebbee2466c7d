import type { Plan } from '../../domain/react';
import type { ReactionOperation, ReactionRule } from '../../domain/reaction';
import { addCounts, addSums, mayBackfill, NO_COUNTS, withoutSuperseded } from './backfill';

const POINTS = { path: 'state.user.points', op: 'inc', value: 1 } as const;
const TIER = { path: 'state.user.tier', op: 'set', value: 'gold' } as const;
const NEWEST = { path: 'state.campaign.newest', op: 'set', value: 7 } as const;

function planOf(...ops: readonly ReactionOperation[]): Plan {
  const reaction: ReactionRule = {
    id: 'r',
    campaignId: 'c',
    name: 'n',
    source: null,
    ops,
    appliesFrom: new Date(0),
    backfillId: null,
  };
  return { reaction, operations: ops as never, subject: 'ann' };
}

const recordOf = (outcome: 'applied' | 'skipped' | 'failed' | 'waiting_for_customer', reason?: string) => ({
  campaignId: 'c',
  name: 'n',
  outcome,
  ...(reason === undefined ? {} : { reason }),
});

describe('a backfill comes to an event', () => {
  it('that its reaction has not met, or whose condition was not met', () => {
    const records = [undefined, recordOf('skipped', 'condition'), recordOf('skipped', 'not_in_force')];
    for (const isInForce of [true, false])
      expect(records.map((record) => mayBackfill(record, isInForce))).toEqual([true, true, true]);
  });

  it('that waits for a reaction which does not apply to it any more', () => {
    expect(mayBackfill(recordOf('waiting_for_customer'), false)).toBe(true);
  });

  it('but not where it took effect, waits, failed, or was skipped for a reason that stays', () => {
    const records = [
      ...[recordOf('applied'), recordOf('waiting_for_customer'), recordOf('failed', 'required')],
      ...[
        recordOf('skipped', 'superseded'),
        recordOf('skipped', 'profile_erased'),
        recordOf('skipped', 'limit_reached'),
      ],
    ];
    expect(records.map((record) => mayBackfill(record, true))).toEqual(Array(6).fill(false));
  });
});

describe('an operation of an earlier event', () => {
  it('stays when nothing was set later, and when it adds', () => {
    const plan = planOf(POINTS, TIER, NEWEST);
    expect(withoutSuperseded(plan, { user: false, shared: false })).toBe(plan);
    expect(withoutSuperseded(planOf(POINTS), { user: true, shared: true })).toMatchObject({ operations: [POINTS] });
  });

  it('is left out when a later event has set the value, of the customer or of all', () => {
    const plan = planOf(POINTS, TIER, NEWEST);
    expect(withoutSuperseded(plan, { user: true, shared: false })).toMatchObject({ operations: [POINTS, NEWEST] });
    expect(withoutSuperseded(plan, { user: false, shared: true })).toMatchObject({ operations: [POINTS, TIER] });
  });

  it('is left out with what adds to the value that it sets; an event without any is skipped', () => {
    const bonus = { path: TIER.path, op: 'inc', value: 5 } as const;
    expect(withoutSuperseded(planOf({ ...TIER, value: 0 }, bonus), { user: true, shared: false })).toMatchObject({
      result: { outcome: 'skipped', reason: 'superseded' },
    });
  });
});

describe('the counts', () => {
  it('add up to what was looked at, and tell what met the condition', () => {
    const counts = addCounts(NO_COUNTS, [
      undefined,
      { outcome: 'applied' },
      { outcome: 'waiting_for_customer' },
      { outcome: 'skipped', reason: 'condition' },
      { outcome: 'skipped', reason: 'superseded' },
      { outcome: 'failed', faults: [{ path: 'when', code: 'condition_failed', message: '' }] },
      { outcome: 'failed', faults: [{ path: 'ops[0].valueFrom', code: 'required', message: '' }] },
    ]);
    expect(counts).toEqual({ scanned: 7, matched: 4, applied: 1, waiting: 1, skipped: 3, failed: 2 });
  });

  it('of a dry run are exact decimals, null beyond what a number holds', () => {
    const add = (value: number) => [{ ...POINTS, value }];
    expect(addSums([], [add(0.1), add(0.2), [{ ...POINTS, op: 'dec', value: 1 }, TIER]])).toEqual([
      { path: POINTS.path, events: 3, sum: -0.7, sets: 0 },
      { path: TIER.path, events: 1, sum: 0, sets: 1 },
    ]);
    expect(addSums([], [add(2 ** 53), add(1), add(-5)])).toMatchObject([{ events: 3, sum: null }]);
  });
});
