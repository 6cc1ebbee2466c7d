import { Injectable } from '@nestjs/common';

/** The only place that asks what time it is; rules get the time as an argument. */
@Injectable()
export class Clock {
  /** Now, as a point in wall-clock time. */
  now(): Date {
    return new Date();
  }

  /** Milliseconds that only ever grow; for ages and time-outs, since the wall clock can be set back. */
  monotonicMs(): number {
    return performance.now();
  }
}
