/** Steps left out in a row, at most. Where hardly any succeeds, the few that are tried cost some per cent. */
const STEPS_MAX = 64;

/**
 * Whether to try a step that fails at times. After a step that was begun and did not end, one is left out, then two, four and
 * so on, until a step ends well.
 */
export class Backoff {
  private left = 0;
  private next = 1;

  /** Whether to try the next step. To be called once for each step: it counts those that are left out. */
  shouldTry(): boolean {
    if (this.left === 0) return true;
    this.left -= 1;
    return false;
  }

  begun(): void {
    this.left = this.next;
    this.next = Math.min(2 * this.next, STEPS_MAX);
  }

  succeeded(): void {
    this.left = 0;
    this.next = 1;
  }
}
