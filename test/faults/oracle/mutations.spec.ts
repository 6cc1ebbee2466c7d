import { mutationViolations, type Entry, type MutationOutcome, type SentMutation, type Value } from './mutations';

const unknown: MutationOutcome = { kind: 'unknown' };
const refused: MutationOutcome = { kind: 'refused' };
const applied = (...entries: Entry[]): MutationOutcome => ({ kind: 'applied', entries });
const duplicate = (...entries: Entry[]): MutationOutcome => ({ kind: 'duplicate', entries });
const step = (previous: Value, current: Value): Entry => ({ previous, current });

const inc = (mutationId: string | undefined, ...outcomes: MutationOutcome[]): SentMutation => ({
  mutationId,
  ops: [{ variable: 'n', op: 'inc', value: 1 }],
  outcomes,
});
const set = (value: string, ...outcomes: MutationOutcome[]): SentMutation => ({
  mutationId: value,
  ops: [{ variable: 'n', op: 'set', value }],
  outcomes,
});

describe('a sound journal', () => {
  it.each<[string, SentMutation[], Value]>([
    ['nothing was changed', [inc('a', refused)], null],
    ['a chain in any order', [inc('b', applied(step(1, 2))), inc('a', applied(step(null, 1)))], 2],
    ['an unknown outcome that was applied', [inc('a', unknown, duplicate(step(null, 1)))], 1],
    ['texts', [set('x', applied(step('y', 'x'))), set('y', applied(step(null, 'y')))], 'x'],
    ['a repetition', [inc('a', applied(step(null, 1)), duplicate(step(null, 1)))], 1],
    ['without id, unknown and applied', [inc(undefined, unknown), inc(undefined, applied(step(1, 2)))], 2],
    ['without id, unknown, applied and last', [inc(undefined, unknown), inc(undefined, applied(step(null, 1)))], 2],
    ['without id, unknown and not applied', [inc(undefined, unknown), inc(undefined, applied(step(null, 1)))], 1],
  ])('has no violations: %s', (_what, sent, final) => {
    expect(mutationViolations(sent, { n: final })).toEqual([]);
  });
});

describe('a broken promise is seen', () => {
  it.each<[string, SentMutation[], Value]>([
    ['never settled: a', [inc('a', unknown)], null],
    ['applied more than once: a', [inc('a', applied(step(null, 1)), applied(step(null, 1)))], 1],
    ['answered in two ways: a', [inc('a', applied(step(null, 1)), duplicate(step(1, 2)))], 1],
    ['called a duplicate of nothing: a', [inc('a', duplicate(step(null, 1)))], 1],
    ['not what was asked for: a', [inc('a', applied(step(null, 2)))], 2],
    ['not what was asked for: x', [set('x', applied(step(null, 'y')))], 'y'],
    ['not what was asked for: a', [inc('a', applied())], null],
    ['two changes of one value: n', [inc('a', applied(step(null, 1))), inc('b', applied(step(null, 1)))], 1],
    ['one value reached twice: n', [set('x', applied(step(null, 'x'))), set('x', applied(step('y', 'x')))], 'x'],
    ['changes in a circle: n', [set('x', applied(step('y', 'x'))), set('y', applied(step('x', 'y')))], null],
    ['a change is lost: n', [inc('a', applied(step(null, 1))), inc('b', applied(step(2, 3)))], 3],
    ['the last change is lost: n', [inc('a', applied(step(null, 1))), inc('b', applied(step(1, 2)))], 1],
    ['the last change is lost: n', [inc('a', applied(step(null, 1)))], null],
    ['the last change is lost: n', [inc('a', refused)], 1],
    ['a change is lost: n', [inc(undefined, unknown), inc('b', applied(step(1, 2))), inc('c', applied(step(3, 4)))], 4],
  ])('%s', (words, sent, final) => {
    expect(mutationViolations(sent, { n: final })).toContain(words);
  });
});
