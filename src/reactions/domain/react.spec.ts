import { aStoredEvent } from '../../../test/support/stored-event';
import { recordOf } from './event-record';
import { failureOfFaults, faultsOfReaction, outcomeOf, planReaction, type CompiledReaction } from './react';
import type { ReactionRule } from './reaction';

const USER = { path: 'state.user.points', op: 'inc', value: 1 } as const;
const SHARED = { path: 'state.campaign.total', op: 'inc', valueFrom: 'properties.amount' } as const;
const REACTION: ReactionRule = {
  id: 'r-1',
  campaignId: 'summer',
  name: 'reward',
  source: null,
  ops: [USER, SHARED],
  appliesFrom: new Date('2026-01-02T03:04:06.000Z'),
  backfillId: null,
};

function plan(
  fields: Partial<ReactionRule> = {},
  condition?: CompiledReaction['condition'],
  externalId: string | null = 'ann',
) {
  const event = aStoredEvent();
  const ready = { reaction: { ...REACTION, ...fields }, condition, sharedCopies: undefined };
  const toProcess = { tenantId: 't', event, ownProfileId: event.profileId, externalId, recorded: [], backfilled: [] };
  return planReaction(ready, toProcess, { record: () => recordOf(event) });
}

describe('what a reaction does with an event', () => {
  it('is its operations, with the values of the event, on the participant', () => {
    expect(plan()).toMatchObject({
      operations: [USER, { path: 'state.campaign.total', op: 'inc', value: 29.33 }],
      subject: 'ann',
    });
  });

  it('is nothing when the event was received before, to the millisecond', () => {
    expect(plan({ appliesFrom: new Date('2026-01-02T03:04:06.001Z') })).toBeUndefined();
  });

  it('is nothing when the event has another source', () => {
    expect(plan({ source: 'till' })).toBeUndefined();
    expect(plan({ source: 'shop' })).toBeDefined();
  });

  it('is skipped when its condition is not met, and fails when it cannot be evaluated', () => {
    expect(plan({}, () => 'unmet')).toMatchObject({ result: { outcome: 'skipped', reason: 'condition' } });
    expect(plan({}, () => 'failed')).toMatchObject({
      result: { faults: [{ path: 'when', code: 'condition_failed' }] },
    });
    expect(plan({}, () => 'too_costly')).toMatchObject({ result: { faults: [{ path: 'when', code: 'too_costly' }] } });
  });

  it('waits as a whole without a participant, unless it changes no user values', () => {
    expect(plan({}, undefined, null)).toMatchObject({ result: { outcome: 'waiting_for_customer' } });
    expect(plan({ ops: [SHARED] }, undefined, null)).toMatchObject({ subject: null });
    expect(plan({ ops: [SHARED] })).toMatchObject({ subject: null });
  });

  it('fails for every value that is not there', () => {
    const missing = { ...SHARED, valueFrom: 'properties.none' };
    expect(plan({ ops: [missing, USER, missing] })).toMatchObject({
      result: { faults: [{ path: 'ops[0].valueFrom' }, { path: 'ops[2].valueFrom' }] },
    });
  });
});

describe('the record of a reaction', () => {
  const faults = [{ path: 'ops[2].valueFrom', code: 'required', message: 'It is not there.' }] as const;
  const failed = { outcome: 'failed', faults } as const;

  it('is the outcome, with a reason unless it was applied', () => {
    const { campaignId, name } = REACTION;
    expect(outcomeOf(REACTION, { outcome: 'applied' })).toEqual({ campaignId, name, outcome: 'applied' });
    expect(outcomeOf(REACTION, failed)).toEqual({ campaignId, name, outcome: 'failed', reason: 'required' });
  });

  it('names the reaction with each fault, and the first one is what the failure is called by', () => {
    const details = faultsOfReaction(REACTION, failed);
    const message = 'The reaction reward of the campaign summer failed: It is not there.';
    expect(details).toEqual([{ path: 'reactions[summer/reward].ops[2].valueFrom', code: 'required', message }]);
    expect(failureOfFaults(details)).toEqual({ code: 'required', message, details });
    expect(failureOfFaults(faultsOfReaction(REACTION, { outcome: 'applied' }))).toBeUndefined();
  });
});
