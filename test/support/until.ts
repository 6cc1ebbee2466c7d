import { setTimeout as wait } from 'node:timers/promises';

const LOOK_AGAIN_MS = 10;

/** Once `condition` is true; throws when it is not so after `seconds`. */
export async function until(condition: () => boolean | Promise<boolean>, seconds = 15): Promise<void> {
  for (const end = Date.now() + seconds * 1_000; !(await condition());) {
    if (Date.now() > end) throw new Error(`It has not come true within ${seconds} s`);
    await wait(LOOK_AGAIN_MS);
  }
}
