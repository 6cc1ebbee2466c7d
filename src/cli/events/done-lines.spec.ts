import fc from 'fast-check';
import { isDone, NOTHING_DONE, withDone, type LineRange } from './done-lines';

/** Batches of a file whose line `n` ends at byte `10 n`. */
function rangesOf(sizes: readonly number[]): LineRange[] {
  let from = 1;
  return sizes.map((size) => {
    const range = { from, to: from + size, endByte: 10 * (from + size - 1) };
    from = range.to;
    return range;
  });
}

describe('what is done of a file', () => {
  it('is exactly the lines of the batches that are done, in whatever order, and in the end one piece', () => {
    const batches = fc
      .array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 12 })
      .map(rangesOf)
      .chain((ranges) => fc.shuffledSubarray(ranges, { minLength: ranges.length, maxLength: ranges.length }));
    fc.assert(
      fc.property(batches, (shuffled) => {
        let done = NOTHING_DONE;
        const lines = new Set<number>();
        const last = Math.max(...shuffled.map(({ to }) => to)) - 1;
        for (const range of shuffled) {
          done = withDone(done, range);
          for (let line = range.from; line < range.to; line++) lines.add(line);
          for (let line = 1; line <= last; line++) expect(isDone(done, line)).toBe(lines.has(line));
          expect(done.position.bytes).toBe(10 * done.position.lines);
        }
        expect(done).toEqual({ position: { lines: last, bytes: 10 * last }, beyond: [] });
      }),
    );
  });

  it('is one range for what lies side by side, so that a batch that waits does not make the state grow', () => {
    const [, ...later] = rangesOf([1, ...Array<number>(500).fill(3)]);
    const done = later.reduce(withDone, NOTHING_DONE);
    expect(done.beyond).toEqual([{ from: 2, to: 1502, endByte: 15_010 }]);
  });
});
