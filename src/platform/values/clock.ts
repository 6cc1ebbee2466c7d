import { Injectable } from '@nestjs/common';
import type { ClockReading } from './database-time';
import { ProcessTime } from './process-time';

/** A process has one database, and one time: ids are made outside of every injector. */
const time = new ProcessTime();

/** Epoch milliseconds by the database's clock, as `Clock.now`. */
export function currentTimeMs(): number {
  return time.nowMs();
}

/**
 * The only place that asks what time it is; rules get the time as an argument. It is the database's time on every node, to some
 * milliseconds (docs/adr/0049): what one node stores and another one compares must not depend on their own clocks.
 */
@Injectable()
export class Clock {
  /** Now, as a point in wall-clock time. */
  now(): Date {
    return new Date(currentTimeMs());
  }

  /** Milliseconds that only ever grow; for ages and time-outs, since the wall clock can be set back. */
  monotonicMs(): number {
    return performance.now();
  }

  /** Records a reading of the database's clock. */
  learn(reading: ClockReading): void {
    time.learn(reading);
  }

  /** By how much this machine's own clock is ahead of the database's; undefined before the first look at that one. */
  machineAheadMs(): number | undefined {
    return time.machineAheadMs();
  }
}
