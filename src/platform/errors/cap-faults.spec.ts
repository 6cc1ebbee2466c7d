import { capFaults } from './cap-faults';
import type { Fault } from './fault';

const faults = (count: number): Fault[] =>
  Array.from({ length: count }, (_unused, index) => ({ path: `items[${index}]`, code: 'type', message: 'is wrong' }));

describe('more faults than one answer lists', () => {
  it('are cut, and a last one says so', () => {
    expect(capFaults(faults(4), 3).map(({ path, code }) => `${path} ${code}`)).toEqual([
      ...['items[0] type', 'items[1] type', 'items[2] type', ' too_many_faults'],
    ]);
  });

  it('are not told of where none is left out', () => {
    expect([capFaults(faults(3), 3), capFaults([], 3)]).toEqual([faults(3), []]);
  });
});
