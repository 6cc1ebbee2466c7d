import { DomainError } from '../errors/domain-error';
import { ConcurrencyLimiter, type ConcurrencyPolicy } from './concurrency-limiter';

/** A limiter, and tasks that end when they are told to. */
function aLimiter(runningMax: () => number) {
  const refusal = (): Error => new DomainError('unavailable', 'Too many wait.', { retryAfterSeconds: 1 });
  const limiter = new ConcurrencyLimiter({ runningMax, waitingMax: 2, refusal });
  const started: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const run = (name: string, key = 'a'): Promise<string> =>
    limiter.run(key, () => {
      started.push(name);
      return new Promise((resolve, reject) => ends.set(name, (error) => (error ? reject(error) : resolve(name))));
    });
  return { started, run, end: (name: string, error?: Error) => ends.get(name)?.(error) };
}

describe('a concurrency limiter', () => {
  it('runs the tasks of one key a few at a time, in their order, also after one that failed', async () => {
    const { started, run, end } = aLimiter(() => 1);
    const answers = ['1', '2', '3'].map((name) => run(name));
    expect(started).toEqual(['1']);
    end('1', new Error('failed'));
    await expect(answers[0]).rejects.toThrow('failed');
    expect(started).toEqual(['1', '2']);
    end('2');
    expect(await answers[1]).toBe('2');
    expect(started).toEqual(['1', '2', '3']);
    end('3');
    expect(await answers[2]).toBe('3');
  });

  it('does not make other keys wait', () => {
    const { started, run } = aLimiter(() => 1);
    void run('1');
    void run('2', 'b');
    expect(started).toEqual(['1', '2']);
  });

  it('refuses what finds too many waiting, and takes more when those are done', async () => {
    const { run, end } = aLimiter(() => 1);
    const answers = ['1', '2', '3'].map((name) => run(name));
    await expect(run('4')).rejects.toMatchObject({ code: 'unavailable', extras: { retryAfterSeconds: 1 } });
    for (const [index, name] of ['1', '2', '3'].entries()) {
      end(name);
      expect(await answers[index]).toBe(name);
    }
    const again = run('5');
    end('5');
    expect(await again).toBe('5');
  });

  it('asks anew how many may run whenever one ends', async () => {
    let runningMax = 1;
    const { started, run, end } = aLimiter(() => runningMax);
    const first = run('1');
    void run('2');
    void run('3');
    runningMax = 2;
    end('1');
    await first;
    expect(started).toEqual(['1', '2', '3']);
  });
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Fetches of workspaces that are named by a letter; they stand still until the test ends them. */
function someFetches(policy: Partial<ConcurrencyPolicy> = {}) {
  const limiter = new ConcurrencyLimiter({
    runningMax: () => 2,
    runningInAllMax: 3,
    waitingMax: 4,
    waitMsMax: 60_000,
    refusal: (why) => new Error(why === 'too_many_wait' ? 'Too many wait.' : 'It took too long.'),
    ...policy,
  });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const fetch = (name: string): Promise<string> =>
    limiter.run(name.charAt(0), () => {
      begun.push(name);
      return new Promise((resolve) => ends.set(name, () => resolve(name)));
    });
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await settled();
  };
  return { limiter, begun, fetch, end };
}

describe('a concurrency limiter with a limit on all keys', () => {
  it('lets a workspace have its own slots and no more, and others go on', async () => {
    const { begun, fetch, end } = someFetches();
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
    const { begun, fetch, end } = someFetches({ runningMax: () => 2, runningInAllMax: 2 });
    ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1'].forEach((name) => void fetch(name));
    await settled();
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']) await end(name);
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']);
  });

  it('gives the slot of a fetch that failed to the next', async () => {
    const { limiter, begun, fetch } = someFetches({ runningMax: () => 1 });
    const failing = limiter.run('a', () => Promise.reject(new Error('away')));
    void fetch('a2');
    await expect(failing).rejects.toThrow('away');
    await settled();
    expect(begun).toEqual(['a2']);
  });

  it('lets nobody wait for longer than the limit, and forgets who has gone', async () => {
    const { begun, fetch, end } = someFetches({ runningMax: () => 1, waitMsMax: 20 });
    void fetch('a1');
    await expect(fetch('a2')).rejects.toThrow('took too long');
    const late = fetch('a3');
    await end('a1');
    expect(begun).toEqual(['a1', 'a3']);
    await end('a3');
    expect(await late).toBe('a3');
  });

  it('lets so many of a workspace wait and no more', async () => {
    const { fetch, begun, end } = someFetches({ runningMax: () => 1 });
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
