import { capFaults, countFaults, fitFaults } from './cap-faults';
import { describeFaults } from './describe-faults';
import type { Fault } from './fault';
import { FaultList } from './fault-list';
import { fieldPath, itemPath } from './fault-words';

const fault = (path: string): Fault => ({ path, code: 'type', message: `${path} is wrong.` });
const faults = (count: number): Fault[] => Array.from({ length: count }, (_unused, n) => fault(`a${n}`));
const lastOf = (list: readonly Fault[]): string | undefined => list.at(-1)?.message;

describe('a list of faults', () => {
  it('makes the words of those that it lists, and counts the others', () => {
    const list = new FaultList(3);
    let made = 0;
    for (let n = 0; n < 1_000; n += 1) list.add(() => fault(`a${(made += 1)}`));
    expect([made, list.all().length, lastOf(list.all())]).toEqual([
      3,
      4,
      'There are 997 more faults that are not listed; correct these first.',
    ]);
    expect(describeFaults(list.all())).toBe('a1 is wrong. (and 999 more faults)');
  });

  it('counts what was cut before it, wherever that stands', () => {
    const list = new FaultList(5);
    list.push(...capFaults(faults(10), 2));
    list.push(fault('b'), ...capFaults(faults(100), 3));
    expect([countFaults(list.all()), list.all().map(({ code }) => code)]).toEqual([
      111,
      [...Array(5).fill('type'), 'too_many_faults'],
    ]);
  });

  it('tells in its JSON text no more than a fault does', () => {
    expect(Object.keys(JSON.parse(JSON.stringify(capFaults(faults(3), 1).at(-1))) as object)).toEqual([
      ...['path', 'code', 'message'],
    ]);
  });

  it('fits into a share, with the number of the others where there is room for it', () => {
    const cut = capFaults(faults(200), 100);
    expect(fitFaults(cut, 0)).toEqual([]);
    expect(fitFaults(cut, 1)).toEqual([fault('a0')]);
    expect([fitFaults(cut, 3).length, lastOf(fitFaults(cut, 3))]).toEqual([
      3,
      'There are 198 more faults that are not listed; correct these first.',
    ]);
    expect(fitFaults(faults(3), 3)).toEqual(faults(3));
  });
});

describe('the path of a fault', () => {
  it('is bounded, however deep it leads and however long the names on it are', () => {
    let path = 'properties';
    for (let level = 0; level < 1_000; level += 1)
      path = itemPath(fieldPath(path, `a "name" 😀 ${'x'.repeat(100)}`), level);
    expect(path.length).toBeLessThanOrEqual(257);
    expect([path.endsWith('…'), path.isWellFormed()]).toEqual([true, true]);
  });
});
