import { KeyedMutex } from './keyed-mutex';

/** Work that ends when it is told to. */
function aWork<T>(): { done: (value: T) => void; fail: (error: Error) => void; work: () => Promise<T> } {
  let done: (value: T) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const ended = new Promise<T>((resolve, reject) => {
    [done, fail] = [resolve, reject];
  });
  return { done, fail, work: () => ended };
}

const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('KeyedMutex', () => {
  it('does the work of one subject one by one, in the order of arrival', async () => {
    const turns = new KeyedMutex();
    let underWay = 0;
    const order: number[] = [];
    const answers = Array.from({ length: 50 }, (_, index) =>
      turns.runExclusive('subject', async () => {
        expect((underWay += 1)).toBe(1);
        order.push(index);
        await idle();
        underWay -= 1;
        return index;
      }),
    );
    expect(await Promise.all(answers)).toEqual(order);
    expect(order).toEqual([...Array(50).keys()]);
  });

  it('lets nobody wait for another subject', async () => {
    const turns = new KeyedMutex();
    const { work, done } = aWork<string>();
    const first = turns.runExclusive('one', work);
    expect(await turns.runExclusive('another', () => Promise.resolve('at once'))).toBe('at once');
    done('later');
    expect(await first).toBe('later');
  });

  it('goes on after work that has failed, and tells only whoever asked for it', async () => {
    const turns = new KeyedMutex();
    const { work, fail } = aWork<string>();
    const failing = turns.runExclusive('subject', work);
    const next = turns.runExclusive('subject', () => Promise.resolve('next'));
    fail(new Error('broken'));
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('next');
  });

  it('refuses work that waits too long, while what is ahead of it goes on, and never begins it', async () => {
    const turns = new KeyedMutex(20);
    const { work, done } = aWork<string>();
    const slow = turns.runExclusive('subject', work);
    let begun = false;
    const late = turns.runExclusive('subject', async () => {
      begun = true;
      await idle();
    });
    await expect(late).rejects.toMatchObject({ code: 'unavailable' });
    const next = turns.runExclusive('subject', () => Promise.resolve('next'));
    done('slow');
    expect([await slow, await next, begun]).toEqual(['slow', 'next', false]);
  });
});
