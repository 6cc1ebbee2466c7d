import { setImmediate } from 'node:timers';

/** How long one piece of work may hold the event loop before other work gets its turn. */
const SLICE_MS = 10;

/** Pieces of work of this process whose slice is used up, in the order in which they stopped. */
const waiting: (() => void)[] = [];

/**
 * Long work that computes in slices of 10 ms. Of all such work in the process, one piece goes on in each turn of the event
 * loop: fifty long answers hold it no longer at a time than one does. The first slice begins with the first pause.
 */
export class TimeSlice {
  private endsAtMs = Number.NEGATIVE_INFINITY;

  /** Lets others have their turn, if the slice is used up. */
  async pause(): Promise<void> {
    if (performance.now() < this.endsAtMs) return;
    await nextTurn();
    this.endsAtMs = performance.now() + SLICE_MS;
  }

  /** Runs work that yields where it can be interrupted. */
  async run<Result>(steps: Steps<Result>): Promise<Result> {
    for (;;) {
      await this.pause();
      while (performance.now() < this.endsAtMs) {
        const step = steps.next();
        if (step.done === true) return step.value;
      }
    }
  }
}

/** Work that can be interrupted at each `yield`. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Runs such work in one go, where it is known to be short. */
export function runAtOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resume) => {
    if (waiting.push(resume) === 1) setImmediate(resumeFirst);
  });
}

function resumeFirst(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeFirst);
}
