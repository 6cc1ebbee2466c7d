import { capFaults } from '../../platform/errors/cap-faults';
import type { Fault } from '../../platform/errors/fault';
import { capListedFaults, FaultBudget } from './fault-budget';

const faults = (count: number): readonly Fault[] =>
  capFaults(
    Array.from({ length: count }, (_unused, n) => ({ path: `a${n}`, code: 'type', message: 'is wrong' })),
    100,
  );

const listed = (events: number, count: number): number[] => {
  const budget = new FaultBudget(events);
  return Array.from({ length: events }, () => budget.spend(faults(count)).length);
};

describe('the faults of a batch', () => {
  it('are one thousand at most, and each event has one of them', () => {
    for (const events of [1, 10, 999, 1_000]) {
      const each = listed(events, 500);
      expect([Math.min(...each) > 0, Math.max(...each) <= 100]).toEqual([true, true]);
      expect(each.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(1_000);
    }
  });

  it('are all listed where they are few', () => {
    expect(listed(100, 5)).toEqual(Array(100).fill(5));
  });

  it('are one thousand at most in an answer to more events, and those of the first events', () => {
    const results = Array.from({ length: 3_000 }, (_unused, n) =>
      n % 2 === 0 ? { status: 'accepted' } : { status: 'error', message: 'is wrong', details: faults(1) },
    );
    const capped = capListedFaults(results);
    const lengths = capped.map((result) => ('details' in result ? result.details.length : undefined));
    expect(lengths.slice(0, 4)).toEqual([undefined, 1, undefined, 1]);
    expect(lengths.slice(-2)).toEqual([undefined, 0]);
    expect(capped.flatMap((result) => ('details' in result ? result.details : []))).toHaveLength(1_000);
  });
});
