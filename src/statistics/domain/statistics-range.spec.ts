import { STEP_MS, statisticsRange, type StatisticsRange, type StatisticsStep } from './statistics-range';

const NOW = Date.parse('2026-03-01T12:34:56.789Z');

function rangeOf(from: string | undefined, to: string | undefined, step: StatisticsStep): StatisticsRange {
  const at = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
  const range = statisticsRange({ from: at(from), to: at(to), step }, NOW);
  if ('faults' in range) throw new Error(range.faults[0]?.message);
  return range;
}

const text = (at: number): string => new Date(at).toISOString();
const partsOf = ({ counted }: StatisticsRange): string[] =>
  counted.map(({ step, from, to, isWhole }) => `${isWhole ? 'whole' : 'part'} ${step} ${text(from)} ${text(to)}`);
const faultsOf = (range: object): unknown => ('faults' in range ? range.faults : undefined);

describe('the range of statistics', () => {
  it('is the last 24 hours by default, of at most 1,440 minutes', () => {
    const range = rangeOf(undefined, undefined, 'minute');
    expect([text(range.from), text(range.to)]).toEqual(['2026-02-28T12:35:00.000Z', '2026-03-01T12:34:56.789Z']);
    expect(text(rangeOf(undefined, '2026-01-02T00:00:00Z', 'day').from)).toBe('2026-01-01T00:00:00.000Z');
  });

  it('adds up whole steps, the minutes around them, and parts of minutes at either end', () => {
    const range = rangeOf('2026-01-01T22:58:30Z', '2026-01-02T02:01:15Z', 'hour');
    expect(partsOf(range)).toEqual([
      'part minute 2026-01-01T22:58:00.000Z 2026-01-01T22:59:00.000Z',
      'whole minute 2026-01-01T22:59:00.000Z 2026-01-01T23:00:00.000Z',
      'whole hour 2026-01-01T23:00:00.000Z 2026-01-02T02:00:00.000Z',
      'whole minute 2026-01-02T02:00:00.000Z 2026-01-02T02:01:00.000Z',
      'part minute 2026-01-02T02:01:00.000Z 2026-01-02T02:02:00.000Z',
    ]);
    expect(range.edges.map(({ from, to }) => [text(from), text(to)])).toEqual([
      ['2026-01-01T22:58:30.000Z', '2026-01-01T22:59:00.000Z'],
      ['2026-01-02T02:01:00.000Z', '2026-01-02T02:01:15.000Z'],
    ]);
  });

  it('within one minute is that part of it', () => {
    const range = rangeOf('2026-01-01T00:00:10Z', '2026-01-01T00:00:20Z', 'day');
    expect(partsOf(range)).toEqual(['part minute 2026-01-01T00:00:00.000Z 2026-01-01T00:01:00.000Z']);
    expect(range.edges).toEqual([{ from: range.from, to: range.to }]);
    expect(range.wholeMinutes.to).toBeLessThanOrEqual(range.wholeMinutes.from);
  });

  it.each(Object.keys(STEP_MS) as StatisticsStep[])('covers every minute once, in steps of a %s', (step) => {
    for (let round = 0; round < 300; round += 1) {
      const from = NOW - Math.floor(Math.random() * 3 * STEP_MS[step]);
      const range = statisticsRange({ from, to: from + 1 + Math.floor(Math.random() * 5 * STEP_MS[step]), step }, NOW);
      if ('faults' in range) throw new Error('A range was refused');
      const { counted, edges, minutes, wholeMinutes } = range;
      // Rows: one behind the other from the first minute to the last.
      expect(counted.map(({ to }) => to)).toEqual([...counted.slice(1).map((part) => part.from), minutes.to]);
      expect(counted[0]?.from).toBe(minutes.from);
      for (const part of counted)
        expect([part.from % STEP_MS[part.step], part.to % STEP_MS[part.step]]).toEqual([0, 0]);
      const whole = counted.filter(({ isWhole }) => isWhole).reduce((sum, part) => sum + part.to - part.from, 0);
      const inLog = edges.reduce((sum, part) => sum + part.to - part.from, 0);
      expect(whole).toBe(Math.max(0, wholeMinutes.to - wholeMinutes.from));
      expect(whole + inLog).toBe(range.to - range.from);
    }
  });

  it('takes 1,440 steps and no more, and says what to do', () => {
    const to = Date.parse('2026-01-02T00:00:30Z');
    const asked = (minutes: number) =>
      statisticsRange({ from: to - minutes * STEP_MS.minute, to, step: 'minute' }, NOW);
    expect(faultsOf(asked(1_440))).toBeUndefined();
    expect(faultsOf(asked(1_441))).toEqual([
      {
        path: 'step',
        code: 'range',
        message:
          'The range has 1441 steps, and 1440 are answered at most; ask for a shorter range, or a larger step than minute.',
      },
    ]);
    expect(faultsOf(statisticsRange({ from: 0, to: 1_441 * STEP_MS.day, step: 'day' }, NOW))).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/ask for a shorter range\.$/) }),
    ]);
  });

  it.each([
    ['9999-12-31T00:00:00Z', '9999-12-31T23:59:59.999Z', 'hour'],
    ['9999-12-31T23:00:00Z', '9999-12-31T23:59:59.999Z', 'minute'],
    ['9999-12-31T23:59:30Z', '9999-12-31T23:59:59.999Z', 'minute'],
    [undefined, '0001-01-01T00:00:30Z', 'minute'],
  ] as const)('from %s to %s stays between the years 1 and 9999', (from, to, step) => {
    const { counted, edges, wholeMinutes, minutes } = rangeOf(from, to, step);
    const bounds = [...counted, ...edges, wholeMinutes, minutes].flatMap((span) => [text(span.from), text(span.to)]);
    for (const bound of bounds) expect(bound).toMatch(/^(?!0000)\d{4}-/);
  });

  it('ends after its beginning', () => {
    expect(faultsOf(statisticsRange({ from: NOW, step: 'hour' }, NOW))).toEqual([
      expect.objectContaining({ path: 'from', code: 'range' }),
    ]);
    expect(faultsOf(statisticsRange({ from: 2, to: 1, step: 'hour' }, NOW))).toHaveLength(1);
  });
});
