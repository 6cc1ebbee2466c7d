/** So many steps are passed over at most: where hardly any succeeds, those that are tried nevertheless cost a few per cent. */
const STEPS_MAX = 64;

/**
 * Whether to try a short cut that fails at times. After a step that was begun and did not end, one is passed over, then two, four and
 * so on, until one ends well.
 */
export class Backoff {
  private left = 0;
  private next = 1;

  /** To be asked once a step. */
  isOver(): boolean {
    if (this.left === 0) return true;
    this.left -= 1;
    return false;
  }

  begin(): void {
    this.left = this.next;
    this.next = Math.min(2 * this.next, STEPS_MAX);
  }

  end(): void {
    this.left = 0;
    this.next = 1;
  }
}
