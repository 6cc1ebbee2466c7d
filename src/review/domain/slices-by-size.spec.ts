import { slicesBySize } from './slices-by-size';

describe('slices', () => {
  it('hold as much as may be loaded at a time, in order, and never less than one', () => {
    const sizes = [5, 5, 1, 20, 1, 9, 1].map((bytes, index) => ({ id: String(index), bytes }));
    expect(slicesBySize(sizes, 10)).toEqual([['0', '1'], ['2'], ['3'], ['4', '5'], ['6']]);
    expect(slicesBySize([], 10)).toEqual([]);
  });
});
