import { setTimeout as wait } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { Clock } from '../values/clock';
import { LastUse, type UsedCredential } from './last-use';

const NOW = new Date('2026-01-02T03:04:05Z');
const clock = Object.assign(new Clock(), { now: () => NOW });
const aCredential = (id: string, lastUsedAt: Date | null = null): UsedCredential => ({ tenantId: 't', id, lastUsedAt });
const secondsAgo = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1_000);
const untilIdle = () => new Promise(setImmediate);

let logged: string[];

beforeEach(() => {
  logged = [];
  for (const level of ['warn', 'log'] as const) {
    jest
      .spyOn(Logger.prototype, level)
      .mockImplementation((...[message]: unknown[]) => void logged.push(`${level}: ${String(message)}`));
  }
});

afterEach(() => jest.restoreAllMocks());

/** Writes that are let through one by one, or refused. */
function heldWrites() {
  const begun: string[] = [];
  const open: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];
  const use = new LastUse(clock, (tenantId, id, at) => {
    begun.push(`${tenantId}/${id} ${at.toISOString()}`);
    return new Promise<void>((resolve, reject) => open.push({ resolve, reject }));
  });
  const settle = async (how: (write: (typeof open)[number]) => void): Promise<void> => {
    const write = open.shift();
    if (write === undefined) throw new Error('Nothing is being written');
    how(write);
    await untilIdle();
  };
  const end = (): Promise<void> => settle(({ resolve }) => resolve());
  const fail = (error: unknown): Promise<void> => settle(({ reject }) => reject(error));
  return { use, begun, end, fail };
}

describe('the use of a credential', () => {
  it('is written when none is stored or the stored one is more than a minute old', () => {
    const written: string[] = [];
    const use = new LastUse(clock, (_tenantId, id) => Promise.resolve(written.push(id)));
    use.note(aCredential('never used'));
    expect(written).toEqual(['never used']);
  });

  it.each([
    [0, 0],
    [59.999, 0],
    [60, 0],
    [60.001, 1],
    [3_600, 1],
    // Another node's clock is ahead.
    [-5, 0],
  ])('that is stored as %d seconds ago leads to %d writes', (seconds, writes) => {
    const { use, begun } = heldWrites();
    use.note(aCredential('a', secondsAgo(seconds)));
    expect(begun).toHaveLength(writes);
  });

  it('is written once for a thousand who note it while it is being written', async () => {
    const { use, begun, end } = heldWrites();
    for (let count = 0; count < 1_000; count += 1) use.note(aCredential('a'));
    await end();
    expect(begun).toEqual([`t/a ${NOW.toISOString()}`]);
  });

  it('waits for the write of another one, so that requests keep their connections', async () => {
    const { use, begun, end } = heldWrites();
    for (const id of ['a', 'b', 'c']) use.note(aCredential(id));
    const counts = [begun.length];
    await end();
    counts.push(begun.length);
    use.note(aCredential('d'));
    for (let write = 0; write < 3; write += 1) await end();
    expect([...counts, begun.length]).toEqual([1, 2, 4]);
    use.note(aCredential('e'));
    expect(begun).toHaveLength(5);
  });

  it('is left to the next verification when ten thousand others wait', async () => {
    const { use, begun, end } = heldWrites();
    for (let count = 0; count < 10_001; count += 1) use.note(aCredential(`credential ${count}`));
    while (begun.length < 10_000) await end();
    await end();
    expect(begun).toHaveLength(10_000);
  });
});

describe('a write that fails', () => {
  it('is told of once, and once more when it is over, and never in the words of the database', async () => {
    const { use, end, fail } = heldWrites();
    for (const id of ['a', 'b', 'c', 'd']) use.note(aCredential(id));
    const refusal = () => Object.assign(new Error('Key (key_hash)=(secret) exists'), { code: '23505' });
    await fail(refusal());
    await fail(refusal());
    await end();
    await end();
    expect(logged.map((line) => line.slice(0, 5))).toEqual(['warn:', 'log: ']);
    expect(logged[0]).toContain('23505');
    expect(logged.join()).not.toContain('secret');
  });

  it('is tried again at the next verification', async () => {
    const { use, begun, fail } = heldWrites();
    use.note(aCredential('a'));
    await fail(new Error('away'));
    use.note(aCredential('a'));
    expect(begun).toHaveLength(2);
  });

  it('does not reach whoever notes the use, also when it fails before it begins', () => {
    const use = new LastUse(clock, () => {
      throw new Error('no pool');
    });
    expect(() => use.note(aCredential('a'))).not.toThrow();
  });
});

describe('a service that stops', () => {
  it('waits for what is to be written, and notes nothing more', async () => {
    const { use, begun, end } = heldWrites();
    for (const id of ['a', 'b']) use.note(aCredential(id));
    let isOver = false;
    const stopped = use.beforeApplicationShutdown().then(() => (isOver = true));
    use.note(aCredential('c'));
    await end();
    expect(isOver).toBe(false);
    await end();
    await stopped;
    expect(begun).toHaveLength(2);
  });

  it('stops at once when there is nothing to write', async () => {
    const { use } = heldWrites();
    const outcome = await Promise.race([use.beforeApplicationShutdown(), wait(500, 'late')]);
    expect(outcome).toBeUndefined();
  });

  it('waits a second and no longer for a database that does not answer, and tells nobody', async () => {
    const { use, begun, fail } = heldWrites();
    for (const id of ['a', 'b']) use.note(aCredential(id));
    const startedAt = performance.now();
    await use.beforeApplicationShutdown();
    expect(performance.now() - startedAt).toBeLessThan(1_500);
    await fail(new Error('the pool is closed'));
    expect([begun.length, logged]).toEqual([1, []]);
  });
});
