import fc from 'fast-check';
import { Backoff } from './store-from-memory';

/** Takes steps; answers for each whether it was tried. */
function tried(backoff: Backoff, steps: number, succeeds: boolean): boolean[] {
  return Array.from({ length: steps }, () => {
    const isTried = backoff.shouldTry();
    if (isTried) backoff.begun();
    if (isTried && succeeds) backoff.succeeded();
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
        const backoff = new Backoff();
        for (const [steps, succeeds] of before) tried(backoff, steps, succeeds);
        tried(backoff, 1_000, false);
        expect(tried(backoff, 65, false).filter(Boolean)).toHaveLength(1);
        expect(tried(backoff, 200, true).slice(65)).toEqual(Array(135).fill(true));
      }),
    );
  });
});
