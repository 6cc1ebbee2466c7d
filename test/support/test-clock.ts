import { Clock } from '../../src/platform/clock/clock';

/** A clock whose monotonic time passes when the test says so. */
export class TestClock extends Clock {
  private ms = 1_000_000;

  override monotonicMs(): number {
    return this.ms;
  }

  pass(ms: number): void {
    this.ms += ms;
  }
}
