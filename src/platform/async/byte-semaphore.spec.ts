import { ByteSemaphore } from './byte-semaphore';

const settle = (): Promise<void> => new Promise(setImmediate);

describe('a semaphore of bytes', () => {
  it('lets in what fits, in order, and the next when something is done', async () => {
    const semaphore = new ByteSemaphore(100);
    const inside = new Map<number, () => void>();
    for (const bytes of [60, 40, 10, 500, 5])
      void semaphore.acquire(`workspace ${bytes}`, bytes).then((release) => inside.set(bytes, release));
    const done = async (bytes: number): Promise<number[]> => {
      inside.get(bytes)?.();
      inside.delete(bytes);
      await settle();
      return [...inside.keys()];
    };
    expect(await done(0)).toEqual([60, 40]);
    expect(await done(40)).toEqual([60, 10]);
    expect(await done(10)).toEqual([60]);
    // Larger than all of it: alone.
    expect(await done(60)).toEqual([500]);
    expect(await done(500)).toEqual([5]);
  });

  it('lets workspaces take turns, so that many of one do not hold up the first of another', async () => {
    const semaphore = new ByteSemaphore(100);
    const inside: [string, () => void][] = [];
    for (const tenantId of ['one', 'one', 'one', 'one', 'two'])
      void semaphore.acquire(tenantId, 100).then((release) => inside.push([tenantId, release]));
    for (let turn = 0; turn < 5; turn += 1) {
      await settle();
      inside.at(-1)?.[1]();
    }
    expect(inside.map(([tenantId]) => tenantId)).toEqual(['one', 'one', 'two', 'one', 'one']);
  });

  it('keeps room for others beside one workspace, whose work may take long', async () => {
    const semaphore = new ByteSemaphore(90);
    const inside: [string, () => void][] = [];
    for (const tenantId of ['one', 'one', 'one', 'two', 'three'])
      void semaphore.acquire(tenantId, 30).then((release) => inside.push([tenantId, release]));
    await settle();
    expect(inside.map(([tenantId]) => tenantId)).toEqual(['one', 'one', 'two']);
    inside[0]?.[1]();
    await settle();
    expect(inside.map(([tenantId]) => tenantId)).toEqual(['one', 'one', 'two', 'one']);
    inside[1]?.[1]();
    await settle();
    expect(inside.map(([tenantId]) => tenantId)).toEqual(['one', 'one', 'two', 'one', 'three']);
  });
});
