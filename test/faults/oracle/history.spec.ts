import { historyViolations, type HistoryStep } from './history';
import type { Value } from './mutations';

/** Of a variable without a default; one with a period has the default 0. */
const step = (previous: Value, current: Value, periodStart: number | null = null): HistoryStep => ({
  variable: 'n',
  previous,
  current,
  periodStart,
  initial: periodStart === null ? null : 0,
});

describe('a sound history', () => {
  it.each<[string, HistoryStep[], Value]>([
    ['of nothing', [], null],
    ['of one chain', [step(null, 1), step(1, 3), step(3, 3)], 3],
    ['of two periods', [step(0, 1, 10), step(1, 2, 10), step(0, 5, 20)], 5],
    ['of a variable that got a period and lost it', [step(null, 1), step(0, 2, 10), step(2, 3)], 3],
  ])('has no violations: %s', (_what, entries, value) => {
    expect(historyViolations(entries, { n: value })).toEqual([]);
  });
});

describe('a broken history is seen', () => {
  it.each<[string, HistoryStep[], Value]>([
    ['a break in the history: n', [step(null, 1), step(2, 3)], 3],
    ['a break in the history: n', [step(null, 1), step(null, 1)], 1],
    ['a break in the history: n', [step(0, 1, 10), step(0, 1, 10)], 1],
    ['a break in the history: n', [step(0, 1, 20), step(0, 2, 10)], 2],
    ['a history without its beginning: n', [step(7, 8)], 8],
    ['a history without its beginning: n', [step(1, 2, 10)], 2],
    ['a value without its change in the history: n', [step(null, 1)], 2],
    ['a value without its change in the history: n', [], 1],
    ['a value without its change in the history: n', [step(null, 1)], null],
  ])('%s', (words, entries, value) => {
    expect(historyViolations(entries, { n: value })).toContain(words);
  });
});
