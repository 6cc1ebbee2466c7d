import type { INestApplicationContext } from '@nestjs/common';
import { Clock } from '../../src/platform/values/clock';

const DAY_MS = 24 * 60 * 60 * 1000;

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

/** Makes a node wrong about the time, as one that does not know the database's: so many days ahead. */
export function setAhead(node: INestApplicationContext, days: number): void {
  Object.assign(node.get(Clock), { now: () => new Date(Date.now() + days * DAY_MS) });
}
