import fc from 'fast-check';
import { FairQueue } from './fair-queue';

describe('FairQueue', () => {
  it('gives every workspace its turn, whatever the others have waiting', () => {
    const queue = new FairQueue<string>();
    for (let entry = 0; entry < 5; entry += 1) queue.push('large', `large ${entry}`);
    queue.push('small', 'small 0');
    expect(queue.take(3)).toEqual(['large 0', 'small 0', 'large 1']);
    queue.push('late', 'late 0');
    expect(queue.take(10)).toEqual(['large 2', 'late 0', 'large 3', 'large 4']);
    expect(queue.take(1)).toEqual([]);
  });

  it('leaves the turn to a workspace whose entry does not fit any more', () => {
    const queue = new FairQueue<number>();
    for (const size of [1, 5]) queue.push('a', size);
    for (const size of [2, 3]) queue.push('b', size);
    const upTo = (most: number): ((size: number) => boolean) => {
      let left = most;
      return (size) => (left -= size) >= 0;
    };
    expect(queue.take(10, upTo(7))).toEqual([1, 2]);
    expect([queue.size, queue.take(10, upTo(100)), queue.size]).toEqual([2, [5, 3], 0]);
  });

  it('takes entries of some workspaces in turn, and gives the next turn to another', () => {
    const queue = new FairQueue<string>();
    for (const entry of ['a 0', 'a 1', 'a 2']) queue.push('a', entry);
    for (const entry of ['b 0', 'c 0', 'c 1']) queue.push(entry.slice(0, 1), entry);
    const of = (tenants: string) => (tenantId: string) => tenants.includes(tenantId);
    expect([queue.next, queue.takeOf(of('ac'), 3), queue.next, queue.size]).toEqual([
      'a',
      ['a 0', 'c 0', 'a 1'],
      'b',
      3,
    ]);
    expect(queue.takeOf(of('b'), 5, () => false)).toEqual([]);
    expect([queue.takeOf(of('b'), 5), queue.takeOf(of('b'), 5), queue.takeOf(of('d'), 5)]).toEqual([['b 0'], [], []]);
    expect([queue.takeOf(of('ac'), 5), queue.next, queue.size]).toEqual([['c 1', 'a 2'], undefined, 0]);
  });

  it('loses nothing, doubles nothing, and keeps the order within a workspace', () => {
    const step = fc.oneof(
      fc.record({ push: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ take: fc.integer({ min: 0, max: 4 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const queue = new FairQueue<{ tenant: string; number: number }>();
        const pushed: { tenant: string; number: number }[] = [];
        const taken: { tenant: string; number: number }[] = [];
        for (const next of steps) {
          if ('push' in next) {
            const entry = { tenant: next.push, number: pushed.length };
            pushed.push(entry);
            queue.push(entry.tenant, entry);
          } else taken.push(...queue.take(next.take));
          expect(queue.size).toBe(pushed.length - taken.length);
        }
        taken.push(...queue.take(pushed.length));
        for (const tenant of ['a', 'b', 'c']) {
          const of = (entries: typeof taken) => entries.filter((entry) => entry.tenant === tenant);
          expect(of(taken)).toEqual(of(pushed));
        }
      }),
    );
  });

  it('keeps no trail of what was taken from a workspace that never pauses', () => {
    const queue = new FairQueue<number>();
    queue.push('busy', 0);
    const wrong: number[] = [];
    for (let entry = 1; entry < 100_000; entry += 1) {
      queue.push('busy', entry);
      const [taken] = queue.take(1);
      if (taken !== entry - 1) wrong.push(entry);
    }
    expect(wrong).toEqual([]);
    const [held] = Reflect.get(queue, 'queues').values() as Iterable<{ entries: number[] }>;
    expect(held?.entries.length).toBeLessThan(5_000);
  });
});
