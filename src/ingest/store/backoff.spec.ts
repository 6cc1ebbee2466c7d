import fc from 'fast-check';
import { Backoff } from './backoff';

/** Takes steps; answers for each whether it was tried. */
function tried(retreat: Backoff, steps: number, succeeds: boolean): boolean[] {
  return Array.from({ length: steps }, () => {
    const isTried = retreat.isOver();
    if (isTried) retreat.begin();
    if (isTried && succeeds) retreat.end();
    return isTried;
  });
}

describe('Backoff', () => {
  it('tries every step that succeeds', () => {
    expect(tried(new Backoff(), 100, true)).toEqual(Array(100).fill(true));
  });

  it('passes over twice as many steps after each that fails', () => {
    const places = tried(new Backoff(), 20, false).flatMap((isTried, place) => (isTried ? [place] : []));
    expect(places).toEqual([0, 2, 5, 10, 19]);
  });

  it('tries one step in 65 where none succeeds, and every one as soon as one has, whatever was before', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(200), fc.boolean())), (before) => {
        const retreat = new Backoff();
        for (const [steps, succeeds] of before) tried(retreat, steps, succeeds);
        tried(retreat, 1_000, false);
        expect(tried(retreat, 65, false).filter(Boolean)).toHaveLength(1);
        expect(tried(retreat, 200, true).slice(65)).toEqual(Array(135).fill(true));
      }),
    );
  });
});
