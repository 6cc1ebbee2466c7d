import { Metrics } from '../observability/metrics';
import { READS_AT_ONCE_MAX, READS_WAITING_MAX, ReadSlots } from './read-slots';

/** A read that goes on until it is told to end. */
function aRead(): { readonly run: () => Promise<void>; readonly end: () => void; readonly begun: () => boolean } {
  let isBegun = false;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const run = (): Promise<void> => {
    isBegun = true;
    return ended;
  };
  return { run, end: () => end(), begun: () => isBegun };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
}

describe('the reads of a workspace', () => {
  let slots: ReadSlots;
  let running: ReturnType<typeof aRead>[];

  beforeEach(() => {
    slots = new ReadSlots(new Metrics());
    running = Array.from({ length: READS_AT_ONCE_MAX }, aRead);
    for (const { run } of running) void slots.run('one', run);
  });
  afterEach(() => {
    for (const { end } of running) end();
  });

  it('wait for a place in the order of their arrival, and those of others do not', async () => {
    const [first, second, foreign] = [aRead(), aRead(), aRead()];
    void slots.run('one', first.run);
    void slots.run('one', second.run);
    void slots.run('two', foreign.run);
    await turns();
    expect([first, second, foreign].map((read) => read.begun())).toEqual([false, false, true]);
    running[0]?.end();
    await turns();
    expect([first.begun(), second.begun()]).toEqual([true, false]);
    first.end();
    await turns();
    expect(second.begun()).toBe(true);
  });

  it('are refused when they have waited too long, or too many wait', async () => {
    const waiting = Array.from({ length: READS_WAITING_MAX }, () => slots.run('one', aRead().run));
    const tooMany = slots.run('one', aRead().run);
    await expect(tooMany).rejects.toMatchObject({ code: 'unavailable', extras: { retryAfterSeconds: 1 } });
    for (const { status } of await Promise.allSettled(waiting)) expect(status).toBe('rejected');
  });

  it('give their place back when they fail', async () => {
    running.forEach(({ end }) => end());
    await turns();
    for (let count = 0; count < 2 * READS_AT_ONCE_MAX; count += 1) {
      await expect(slots.run('one', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    }
    await expect(slots.run('one', () => Promise.resolve(1))).resolves.toBe(1);
  });

  it('hand their place to the next who is still there', async () => {
    const [gone, there] = [aRead(), aRead()];
    const refused = slots.run('one', gone.run, { isGone: () => true });
    void slots.run('one', there.run);
    running[0]?.end();
    await expect(refused).rejects.toThrow();
    await turns();
    expect([gone.begun(), there.begun()]).toEqual([false, true]);
    there.end();
  });

  it('that are streamed wait at each step as long as it takes, and stop where nobody reads on', async () => {
    let isStopped = false;
    async function* items(): AsyncGenerator<number> {
      try {
        for (let item = 1; ; item += 1) {
          await Promise.resolve();
          yield item;
        }
      } finally {
        isStopped = true;
      }
    }
    const stream = slots.each('one', items());
    const first = stream.next();
    await turns();
    running[0]?.end();
    expect(await first).toEqual({ done: false, value: 1 });
    // Between two steps it holds no place.
    const read = aRead();
    void slots.run('one', read.run);
    await turns();
    expect(read.begun()).toBe(true);
    await stream.return();
    expect(isStopped).toBe(true);
    read.end();
  });
});
