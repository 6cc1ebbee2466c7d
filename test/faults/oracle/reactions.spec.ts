import { reactionViolations, type ReactionCounts } from './reactions';

const SOUND: ReactionCounts = { stored: { a: 2, b: 1 }, counted: { a: 2, b: 1 }, total: 3, queued: 0, failed: 0 };

it('counters that say what was stored have no violations', () => {
  expect(reactionViolations(SOUND)).toEqual([]);
});

it.each<[string, Partial<ReactionCounts>]>([
  ['1 events are left in the queue', { queued: 1 }],
  ['the processing of 1 events was given up', { failed: 1 }],
  ['reactions were lost: a 1 of 2', { counted: { a: 1, b: 1 } }],
  ['reactions were lost: b 0 of 1', { counted: { a: 2 } }],
  ['reactions took effect more than once: a 3 of 2', { counted: { a: 3, b: 1 } }],
  ['reactions took effect more than once: c 1 of 0', { counted: { a: 2, b: 1, c: 1 } }],
  ['the campaign has counted 4 of 3', { total: 4 }],
])('is seen: %s', (words, broken) => {
  expect(reactionViolations({ ...SOUND, ...broken })).toContain(words);
});
