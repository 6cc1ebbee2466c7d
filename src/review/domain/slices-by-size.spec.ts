import { slicesBySize } from './slices-by-size';

describe('slices', () => {
  it('hold at most the given bytes, in order, and at least one entry', () => {
    const sizes = [5, 5, 1, 20, 1, 9, 1].map((bytes, index) => ({ id: String(index), bytes }));
    expect(slicesBySize(sizes, 10)).toEqual([['0', '1'], ['2'], ['3'], ['4', '5'], ['6']]);
    expect(slicesBySize([], 10)).toEqual([]);
  });
});
