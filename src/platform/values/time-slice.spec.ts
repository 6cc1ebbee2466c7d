import { setImmediate as turn } from 'node:timers/promises';
import { runAtOnce, TimeSlice, type Steps } from './time-slice';

function busy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

function* steps(count: number, ms: number, each: () => void = () => undefined): Steps<number> {
  for (let step = 0; step < count; step += 1) {
    busy(ms);
    each();
    yield undefined;
  }
  return count;
}

describe('work in slices', () => {
  it('answers what it answers in one go', async () => {
    expect(await new TimeSlice().run(steps(5, 0))).toBe(5);
    expect(runAtOnce(steps(5, 0))).toBe(5);
  });

  it('passes on what goes wrong', async () => {
    const failing = steps(3, 0, () => {
      throw new Error('broken');
    });
    await expect(new TimeSlice().run(failing)).rejects.toThrow('broken');
  });

  it('lets the event loop turn between two slices, however many pieces of work there are', async () => {
    let stepsOfThisTurn = 0;
    let most = 0;
    const count = (): void => void (most = Math.max(most, (stepsOfThisTurn += 1)));
    const works = Array.from({ length: 10 }, () => new TimeSlice().run(steps(20, 3, count)));
    const progress = { isDone: false };
    const done = Promise.all(works).then(() => (progress.isDone = true));
    while (!progress.isDone) {
      await turn();
      stepsOfThisTurn = 0;
    }
    await done;
    // A slice has four steps of 3 ms, of one piece of work; the timer that resumes it may come before or behind ours.
    expect(most).toBeLessThanOrEqual(8);
  });

  it('lets all pieces of work go on in turn', async () => {
    const order: number[] = [];
    const work = (name: number): Promise<number> => new TimeSlice().run(steps(3, 11, () => order.push(name)));
    await Promise.all([work(1), work(2), work(3)]);
    expect(order).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3]);
  });
});
