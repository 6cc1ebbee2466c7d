import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../values/clock';
import type { ClockReading } from '../values/database-time';
import { OutageLog } from '../errors/outage-log';
import { Metrics } from './metrics';

/** More than what a network or a busy machine makes of a look at the other clock. */
const TOLD_SECONDS = 60;
/** A machine that is so far off has lost its time service; what else it says of times is not to be trusted either. */
const READY_SECONDS_MAX = 5 * 60;

/**
 * How far the clock of this machine is from the database's. The service goes by the database's (docs/adr/0049), so that a
 * difference harms nothing it keeps; whoever runs the machines is to know of it all the same.
 */
@Injectable()
export class ClockDifference {
  private readonly outage = new OutageLog(new Logger(ClockDifference.name), {
    began: 'The clock of this machine is off.',
    ended: "The clock of this machine agrees with the database's again.",
  });

  constructor(
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    metrics.gauge(
      {
        name: 'cds_clock_difference_seconds',
        help: "Seconds by which this machine's clock is ahead of the database's; below 0 where it is behind",
        together: 'max',
      },
      () => {
        const seconds = this.seconds();
        return seconds === undefined ? [] : [{ labels: {}, value: seconds }];
      },
    );
  }

  /** Takes in what the database's clock has shown. */
  learn(reading: ClockReading): void {
    this.clock.learn(reading);
    const seconds = this.seconds() ?? 0;
    if (Math.abs(seconds) > TOLD_SECONDS) this.outage.failed(wordsOf(seconds));
    else this.outage.succeeded();
  }

  /** Whether the clocks differ by more than a node may be off that takes requests. */
  isTooLarge(): boolean {
    return Math.abs(this.seconds() ?? 0) > READY_SECONDS_MAX;
  }

  private seconds(): number | undefined {
    const aheadMs = this.clock.machineAheadMs();
    return aheadMs === undefined ? undefined : aheadMs / 1_000;
  }
}

function wordsOf(seconds: number): string {
  const where = seconds > 0 ? 'ahead of' : 'behind';
  const by = `${String(Math.round(Math.abs(seconds)))} seconds ${where} the database's`;
  return `It is ${by}, which the service goes by. Set whichever of the two is wrong, and run a time service (NTP) on both.`;
}
