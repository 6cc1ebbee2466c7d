import { setTimeout as pause } from 'node:timers/promises';
import { isPassing } from '../platform/group-commit/persist-batch';
import type { Clock } from '../platform/values/clock';
import { isDatabaseAway } from './effect-errors';

/** What a job does after a step: `wait` for something that another process does; `over`: nothing more. */
export interface StepResult {
  readonly next: 'step' | 'wait' | 'over';
  /** How many events were dealt with. */
  readonly events: number;
  /** How long to wait; 200 ms when absent. */
  readonly waitMs?: number;
}

export const AGAIN: StepResult = { next: 'step', events: 0 };
export const WAIT: StepResult = { next: 'wait', events: 0 };
export const OVER: StepResult = { next: 'over', events: 0 };

/** The service waits for a job when it stops; jobs take turns after so long. */
const WORK_MS_MAX = 1_500;
/** Each step is followed by a pause of this many times its own time, so that ingest keeps nine tenths of its rate. */
const REST_SHARE = 3;
const WAIT_MS = 200;
/** So many lost races and deadlocks in a row; then the job fails and is tried again later. */
const REPEATS_MAX = 10;

export interface PacedSteps {
  readonly clock: Clock;
  /** Null: as fast as the pauses allow. */
  readonly eventsPerSecondMax: number | null;
}

/** Runs steps for about a second. Returns in how many milliseconds the next job should go on; undefined: it is over. */
export async function runPacedSteps(
  step: () => Promise<StepResult>,
  { clock, eventsPerSecondMax }: PacedSteps,
): Promise<number | undefined> {
  const beganMs = clock.monotonicMs();
  for (;;) {
    const startedMs = clock.monotonicMs();
    const result = await withRepeats(step);
    if (result.next === 'over') return undefined;
    const restMs = restOf(result, clock.monotonicMs() - startedMs, eventsPerSecondMax);
    if (clock.monotonicMs() + restMs - beganMs > WORK_MS_MAX) return restMs;
    await pause(restMs);
  }
}

async function withRepeats(step: () => Promise<StepResult>): Promise<StepResult> {
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await step();
    } catch (error) {
      if (!isPassing(error) || isDatabaseAway(error) || repeats === REPEATS_MAX) throw error;
      await pause(Math.random() * WAIT_MS);
    }
  }
}

/** Milliseconds until the next step. */
function restOf({ next, events, waitMs = WAIT_MS }: StepResult, tookMs: number, perSecond: number | null): number {
  const paceMs = perSecond === null ? 0 : (events * 1_000) / perSecond - tookMs;
  return Math.max(tookMs * REST_SHARE, paceMs, next === 'wait' ? waitMs : 0);
}
