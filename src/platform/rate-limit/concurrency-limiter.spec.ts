import { ConcurrencyLimiter } from './concurrency-limiter';

/** A limiter, and tasks that end when they are told to. */
function aLimiter(runningMax: () => number) {
  const limiter = new ConcurrencyLimiter({ runningMax, waitingMax: 2, subject: 'tasks' });
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
