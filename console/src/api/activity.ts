/** After this time without input, reads are those of timers, and do not keep a session from ending. */
const ATTENDED_MS = 60_000;

let lastInputAt = performance.now();

// Screen readers and dictation click and write without a pointer or a key.
for (const event of ['pointerdown', 'keydown', 'wheel', 'click', 'input']) {
  addEventListener(event, () => (lastInputAt = performance.now()), { capture: true, passive: true });
}

/** Whether somebody has touched the page during the last minute. */
export function isAttended(): boolean {
  return performance.now() - lastInputAt < ATTENDED_MS;
}
