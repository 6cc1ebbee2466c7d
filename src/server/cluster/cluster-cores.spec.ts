import { coresIn } from './cluster-cores';

describe('a list of cores in the format of Linux', () => {
  it.each([
    ['0', [0]],
    ['0-1', [0, 1]],
    ['0-2,5,8-9', [0, 1, 2, 5, 8, 9]],
    ['', []],
  ])('%j is %j', (list, cores) => expect(coresIn(list)).toEqual(cores));
});
