import { setTimeout as wait } from 'node:timers/promises';

const LOOK_AGAIN_MS = 10;
/** A condition is often a request with a query: asked each 10 ms, it takes a fifth of a core from what it waits for. */
const LOOK_AGAIN_MS_MAX = 100;
/** The part of the time waited so far that the next look may come late. */
const LATE = 0.1;

/** Against hanging only: a machine that others load may need ten times what an idle one does. */
const PATIENCE_SECONDS = 60;

/** Once `condition` is true; throws when it is not so after `seconds`, which a test gives where the time is what it is about. */
export async function until(condition: () => boolean | Promise<boolean>, seconds = PATIENCE_SECONDS): Promise<void> {
  for (const began = Date.now(); !(await condition());) {
    const waitedMs = Date.now() - began;
    if (waitedMs > seconds * 1_000) throw new Error(`It has not come true within ${seconds} s`);
    await wait(Math.min(Math.max(waitedMs * LATE, LOOK_AGAIN_MS), LOOK_AGAIN_MS_MAX));
  }
}
