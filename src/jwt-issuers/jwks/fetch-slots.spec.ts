import { FetchSlots, type SlotLimits } from './fetch-slots';

const LIMITS: SlotLimits = { perWorkspace: 2, perProcess: 3, waitingPerWorkspace: 4, waitMsMax: 60_000 };
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Fetches that stand still until the test ends them. */
function someSlots(limits: Partial<SlotLimits> = {}) {
  const slots = new FetchSlots({ ...LIMITS, ...limits });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const fetch = (name: string): Promise<string> =>
    slots.run(name.charAt(0), () => {
      begun.push(name);
      return new Promise((resolve) => ends.set(name, () => resolve(name)));
    });
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await settled();
  };
  return { slots, begun, fetch, end };
}

describe('FetchSlots', () => {
  it('lets a workspace have its own slots and no more, and others go on', async () => {
    const { begun, fetch, end } = someSlots();
    const fetched = ['a1', 'a2', 'a3', 'b1'].map(fetch);
    await settled();
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    await end('b1');
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    await end('a1');
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
    await end('a2');
    await end('a3');
    expect(await Promise.all(fetched)).toEqual(['a1', 'a2', 'a3', 'b1']);
  });

  it('lets workspaces take turns when the process has no slot left', async () => {
    const { begun, fetch, end } = someSlots({ perWorkspace: 2, perProcess: 2 });
    ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1'].forEach((name) => void fetch(name));
    await settled();
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']) await end(name);
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']);
  });

  it('gives the slot of a fetch that failed to the next', async () => {
    const { slots, begun, fetch } = someSlots({ perWorkspace: 1 });
    const failing = slots.run('a', () => Promise.reject(new Error('away')));
    void fetch('a2');
    await expect(failing).rejects.toThrow('away');
    await settled();
    expect(begun).toEqual(['a2']);
  });

  it('lets nobody wait for longer than the limit, and forgets who has gone', async () => {
    const { begun, fetch, end } = someSlots({ perWorkspace: 1, waitMsMax: 20 });
    void fetch('a1');
    await expect(fetch('a2')).rejects.toThrow('took too long');
    const late = fetch('a3');
    await end('a1');
    expect(begun).toEqual(['a1', 'a3']);
    await end('a3');
    expect(await late).toBe('a3');
  });

  it('lets so many of a workspace wait and no more', async () => {
    const { fetch, begun, end } = someSlots({ perWorkspace: 1 });
    const names = ['a1', 'a2', 'a3', 'a4', 'a5'];
    const fetched = names.map(fetch);
    await expect(fetch('a6')).rejects.toThrow('Too many');
    fetched.push(fetch('b1'));
    await settled();
    expect(begun).toEqual(['a1', 'b1']);
    for (const name of ['b1', ...names]) await end(name);
    expect(await Promise.all(fetched)).toEqual([...names, 'b1']);
  });
});
