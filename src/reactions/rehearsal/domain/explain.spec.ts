import { aStoredEvent } from '../../../../test/support/stored-event';
import { compileCondition } from '../../domain/compile-condition';
import type { Condition } from '../../domain/condition';
import { recordOf } from '../../domain/event-record';
import { ConditionResults, explainCondition } from './explain';

const EVENT = recordOf(aStoredEvent());
const YES = { in: ['a', 'abc'] };
const NO = { in: ['x', 'abc'] };

/** `path code` of the part that decided. */
function decisive(when: Condition): string {
  const results = new ConditionResults();
  const verdict = compileCondition(when, results)(EVENT);
  const { path, code } = explainCondition(when, verdict, results, EVENT);
  return `${path} ${code}`;
}

describe('the part of a condition that decided', () => {
  it.each<[string, Condition, string]>([
    ['the only one', YES, 'when.in condition_met'],
    ['the first of an and that does not hold', { and: [YES, NO, YES] }, 'when.and[1].in condition_not_met'],
    ['an and as a whole', { and: [YES, YES] }, 'when.and condition_met'],
    ['the first of an or that holds', { or: [NO, YES, YES] }, 'when.or[1].in condition_met'],
    ['an or as a whole', { or: [NO, NO] }, 'when.or condition_not_met'],
    ['what is negated', { '!': NO }, 'when["!"].in condition_not_met'],
    ['what is negated in a list', { '!': [{ or: [NO, YES] }] }, 'when["!"][0].or[1].in condition_met'],
    ['a branch of an if', { if: [NO, YES, NO] }, 'when.if[2].in condition_not_met'],
    ['a constant', { or: [NO, true] }, 'when.or[1] condition_met'],
    ['an iteration, as a whole', { some: [[1, 2], { '>': [{ var: '' }, 1] }] }, 'when.some condition_met'],
    ['what cannot be evaluated', { and: [YES, { '/': [1, 0] }] }, 'when.and[1]["/"] condition_failed'],
  ])('is %s', (_words, when, expected) => {
    expect(decisive(when)).toBe(expected);
  });

  it('is that of this event, not of the one before', () => {
    const when = { or: [{ '==': [{ var: 'properties.n' }, 1] }, { '==': [{ var: 'properties.n' }, 2] }] };
    const results = new ConditionResults();
    const evaluate = compileCondition(when, results);
    const paths = [1, 2].map((n) => {
      const event = { ...EVENT, properties: { n } };
      results.clear();
      return explainCondition(when, evaluate(event), results, event).path;
    });
    expect(paths).toEqual(['when.or[0]["=="]', 'when.or[1]["=="]']);
  });

  it('names what the event lacks, and no value of it', () => {
    const when = { '==': [{ var: 'properties.none' }, { var: 'properties.amount' }] };
    const results = new ConditionResults();
    const verdict = compileCondition(when, results)(EVENT);
    expect(explainCondition(when, verdict, results, EVENT).message).toBe(
      'when["=="] does not hold; the event has no properties.none.',
    );
  });
});
