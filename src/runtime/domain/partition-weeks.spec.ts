import fc from 'fast-check';
import { partitionName, weekOf, weeksToHave, type Week } from './partition-weeks';

const nameOf = (week: Week): string => partitionName('mutation_outcomes', week);
const DAY_MS = 24 * 60 * 60 * 1000;
const times = fc.date({
  min: new Date('2000-01-01T00:00:00Z'),
  max: new Date('2100-01-01T00:00:00Z'),
  noInvalidDate: true,
});

it('a week begins on Monday at midnight UTC and takes every moment up to the next', () => {
  expect(nameOf(weekOf(new Date('2026-11-21T05:00:00Z')))).toBe('mutation_outcomes_2026_11_16');
  expect(nameOf(weekOf(new Date('2026-11-16T00:00:00Z')))).toBe('mutation_outcomes_2026_11_16');
  expect(nameOf(weekOf(new Date('2026-11-15T23:59:59.999Z')))).toBe('mutation_outcomes_2026_11_09');
  fc.assert(
    fc.property(times, (at) => {
      const { from, to } = weekOf(at);
      expect(from.getUTCDay()).toBe(1);
      expect(to.getTime() - from.getTime()).toBe(7 * DAY_MS);
      expect(from.getTime() <= at.getTime() && at.getTime() < to.getTime()).toBe(true);
    }),
  );
});

it('there are partitions for now, for clocks that differ by a day, and for four weeks without maintenance', () => {
  fc.assert(
    fc.property(times, fc.integer({ min: -DAY_MS, max: 28 * DAY_MS }), (now, ahead) => {
      const names = weeksToHave(now, 30).ahead.map(nameOf);
      expect(names).toContain(nameOf(weekOf(new Date(now.getTime() + ahead))));
    }),
  );
});

it('no week is given up in which a row may still be needed', () => {
  fc.assert(
    fc.property(
      times,
      fc.integer({ min: 1, max: 365 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (now, days, part) => {
        const known = new Date(now.getTime() - part * days * DAY_MS);
        expect(nameOf(weekOf(known)) >= nameOf(weeksToHave(now, days).oldest)).toBe(true);
      },
    ),
  );
});
