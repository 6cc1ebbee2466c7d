import { Clock } from '../values/clock';
import type { InvalidationFeed, InvalidationSubject } from './invalidation-feed';
import { InvalidatingCache } from './invalidating-cache';

const SUBJECT: InvalidationSubject = { tenantId: 't', kind: 'event_type', id: 'purchase' };

/** A feed that says of every read begun before `changedAtMs` that it is void. */
function feedWithChangeAt(changedAtMs: () => number): InvalidationFeed {
  const changedSince = (_subject: InvalidationSubject, readAtMs: number) => changedAtMs() >= readAtMs;
  return {
    changedSince,
    holds: (subject: InvalidationSubject, at: number) => !changedSince(subject, at),
  } as InvalidationFeed;
}

describe('InvalidatingCache', () => {
  it('asks once for a thousand who want to know the same at a time', async () => {
    const memory = new InvalidatingCache<string>(
      feedWithChangeAt(() => 0),
      new Clock(),
      10,
    );
    let reads = 0;
    const read = async () => {
      reads += 1;
      await new Promise(setImmediate);
      return { value: `read ${reads}`, subject: SUBJECT };
    };
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => memory.learn('key', read)));
    expect(new Set(answers)).toEqual(new Set(['read 1']));
    expect(memory.recall('key')).toBe('read 1');
  });

  it('asks once more, and not a thousand times, when a change is seen while the question is under way', async () => {
    let changedAtMs = 0;
    const clock = new Clock();
    const memory = new InvalidatingCache<string>(
      feedWithChangeAt(() => changedAtMs),
      clock,
      10,
    );
    let reads = 0;
    const read = async () => {
      reads += 1;
      const value = `read ${reads}`;
      if (reads === 1) changedAtMs = clock.monotonicMs();
      await new Promise(setImmediate);
      return { value, subject: SUBJECT };
    };
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => memory.learn('key', read)));
    expect(reads).toBe(2);
    // Who asked before the change may be told what was so then; who joined is told what is so now.
    expect(new Set(answers.slice(1))).toEqual(new Set(['read 2']));
    expect(memory.recall('key')).toBe('read 2');
  });

  it('passes on to all who wait that the question failed, and asks again for the next', async () => {
    const memory = new InvalidatingCache<string>(
      feedWithChangeAt(() => 0),
      new Clock(),
      10,
    );
    const failing = () => Promise.reject(new Error('away'));
    const outcomes = await Promise.allSettled([memory.learn('key', failing), memory.learn('key', failing)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(memory.learn('key', () => Promise.resolve({ value: 'back', subject: SUBJECT }))).resolves.toBe('back');
  });

  it('forgets what was not used for longest when its values take more bytes than they may', async () => {
    const memory = new InvalidatingCache<string>(
      feedWithChangeAt(() => 0),
      new Clock(),
      { bytesMax: 100, bytesOf: (value, key) => value.length + key.length },
    );
    const learn = (key: string, length: number) =>
      memory.learn(key, () => Promise.resolve({ value: key.repeat(length), subject: SUBJECT }));
    for (const key of ['a', 'b', 'c']) await learn(key, 30);
    expect(memory.recall('a')).toBe('a'.repeat(30));
    await learn('d', 60);
    expect(['a', 'b', 'c', 'd'].filter((key) => memory.recall(key) !== undefined)).toEqual(['a', 'd']);
    expect(await learn('e', 200)).toBe('e'.repeat(200));
    expect(memory.recall('e')).toBeUndefined();
  });

  it('remembers each of several that were read at once, unless it changed since the question', async () => {
    let changedAtMs = 0;
    const clock = new Clock();
    const memory = new InvalidatingCache<string>(
      feedWithChangeAt(() => changedAtMs),
      clock,
      10,
    );
    const read = (): Promise<Map<string, { value: string; subject: InvalidationSubject }>> =>
      Promise.resolve(new Map(['a', 'b'].map((key) => [key, { value: `of ${key}`, subject: SUBJECT }])));
    expect(await memory.learnAll(read)).toEqual([
      ['a', 'of a'],
      ['b', 'of b'],
    ]);
    expect([memory.recall('a'), memory.recall('b')]).toEqual(['of a', 'of b']);
    await memory.learnAll(async () => {
      await new Promise(setImmediate);
      changedAtMs = clock.monotonicMs();
      return read();
    });
    expect(memory.recall('a')).toBeUndefined();
  });
});
