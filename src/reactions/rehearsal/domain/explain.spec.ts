import { aStoredEvent } from '../../../../test/support/stored-event';
import { compileCondition } from '../../domain/compile-condition';
import type { Condition } from '../../domain/condition';
import { recordOf } from '../../domain/event-record';
import { ConditionResults, explainCondition } from './explain';

const EVENT = recordOf(aStoredEvent());
const YES = { in: ['a', 'abc'] };
const NONE = { var: 'properties.none' };
const NULL = { var: 'properties.nothing' };
const AMOUNT = { var: 'event.properties.amount' };
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

  it('costs no look at a large result that no reason needs', () => {
    let looks = 0;
    const large = new Proxy({ a: 1 }, { ownKeys: (target) => ((looks += 1), Reflect.ownKeys(target)) });
    const event = { ...EVENT, properties: { large, list: Array.from({ length: 1_000 }, () => 1) } };
    const last = { reduce: [{ var: 'properties.list' }, { var: 'accumulator' }, { var: 'properties.large' }] };
    const results = new ConditionResults();
    const verdict = compileCondition(last, results)(event);
    const before = looks;
    expect(explainCondition(last, verdict, results, event)).toMatchObject({ code: 'condition_met' });
    // The condition itself tests its result for truth.
    expect([before, looks]).toEqual([1, 1]);
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

  it.each<[string, Condition, string]>([
    ['a comparison with a missing field', { '<': [NONE, 5] }, 'when["<"] holds; the event has no properties.none.'],
    ['a field that is null', { '>': [NULL, 5] }, 'when[">"] does not hold; properties.nothing is null.'],
    ['a comparison with null', { '==': [NULL, null] }, 'when["=="] holds; properties.nothing is null.'],
    [
      'a default for a missing field',
      { '>': [{ var: ['properties.none', 3] }, 1] },
      'when[">"] holds; the event has no properties.none.',
    ],
    [
      'a sum with a missing field',
      { '>': [{ '+': [AMOUNT, NONE] }, 1e6] },
      'when[">"] does not hold; the event has no properties.none.',
    ],
    [
      'a list of missing fields',
      { missing: ['properties.amount', 'properties.none'] },
      'when.missing holds; the event has no properties.none.',
    ],
    [
      'some of them',
      { missing_some: [1, ['properties.none']] },
      'when.missing_some holds; the event has no properties.none.',
    ],
    [
      'an iteration, whose paths start at an entry',
      { some: [NONE, { '>': [{ var: 'properties.x' }, 1] }] },
      'when.some does not hold; the event has no properties.none.',
    ],
    [
      'a negation',
      { '!': [{ '>': [NONE, 3] }] },
      'when["!"][0][">"] does not hold; the event has no properties.none; the condition negates that.',
    ],
    [
      'a negation of what holds',
      { and: [YES, { '!': [{ or: [NO, YES] }] }] },
      'when.and[1]["!"][0].or[1].in holds; the condition negates that.',
    ],
    ['two negations', { '!': [{ '!': [{ and: [YES, NO] }] }] }, 'when["!"][0]["!"][0].and[1].in does not hold.'],
    [
      'all parts of a negated and',
      { '!': { and: [YES, YES] } },
      'when["!"].and holds: all of its parts hold; the condition negates that.',
    ],
    ['an or in an and', { and: [YES, { or: [NO, NO] }] }, 'when.and[1].or does not hold: none of its parts holds.'],
    [
      'an if without else',
      { if: [NO, true, NO, true] },
      'when.if does not hold: none of its conditions holds, and it has no other result.',
    ],
  ])('is said in words: %s', (_what, when, message) => {
    const event = recordOf({ ...aStoredEvent(), properties: { amount: 12.5, nothing: null } });
    const results = new ConditionResults();
    const verdict = compileCondition(when, results)(event);
    expect(explainCondition(when, verdict, results, event).message).toBe(message);
  });
});
