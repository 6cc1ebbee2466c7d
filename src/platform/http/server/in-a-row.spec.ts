import { inARow } from './in-a-row';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('inARow', () => {
  it('handles what arrives in one turn once each, in order, before the first promise of any of them goes on', async () => {
    const seen: string[] = [];
    const handle = inARow((name: string) => {
      seen.push(name);
      void Promise.resolve().then(() => seen.push(`${name} later`));
    });
    handle('a');
    handle('b');
    expect(seen).toEqual([]);
    await nextTurn();
    handle('c');
    expect(seen).toEqual(['a', 'b', 'a later', 'b later']);
    await nextTurn();
    expect(seen.slice(4)).toEqual(['c', 'c later']);
  });

  it('takes what a handler brings in up in the turn behind it', async () => {
    const seen: number[] = [];
    const handle = inARow((left: number) => {
      seen.push(left);
      if (left > 0) handle(left - 1);
    });
    handle(2);
    await nextTurn();
    await nextTurn();
    await nextTurn();
    expect(seen).toEqual([2, 1, 0]);
  });
});
