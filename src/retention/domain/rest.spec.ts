import { restAfter } from './rest';

const HOUR = 3_600;
const DAY = 24 * HOUR;

describe('the rest after a step of the removal', () => {
  it.each([-HOUR, 0, HOUR, DAY])('is twelve times the step while it is %d seconds behind', (behind) => {
    expect(restAfter(100, behind)).toBe(1_200);
  });

  it.each([
    [2 * DAY, 600],
    [3 * DAY, 300],
    [5 * DAY, 75],
  ])('halves with each further day: %d seconds behind', (behind, expected) => {
    expect(restAfter(100, behind)).toBe(expected);
  });

  it('is never negative, and next to nothing after weeks', () => {
    expect(restAfter(100, 3_650 * DAY)).toBeGreaterThanOrEqual(0);
    expect(restAfter(100, 30 * DAY)).toBeLessThan(0.01);
  });
});
