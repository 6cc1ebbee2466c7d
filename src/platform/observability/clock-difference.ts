import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../values/clock';
import type { ClockReading } from '../values/database-time';
import { OutageLog } from '../errors/outage-log';
import { Metrics } from './metrics';

/** More than the error of a measurement over a network or on a busy machine. */
const LOGGED_SECONDS = 60;
/** A machine with such a difference has lost its time service. It does not become ready. */
const READY_SECONDS_MAX = 5 * 60;

/**
 * The difference between this machine's clock and the database's. The service uses the database's time (docs/adr/0049), so
 * stored data stay correct; operators see the difference in metrics and logs.
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

  /** Records a reading of the database's clock. */
  learn(reading: ClockReading): void {
    this.clock.learn(reading);
    const seconds = this.seconds() ?? 0;
    if (Math.abs(seconds) > LOGGED_SECONDS) this.outage.failed(wordsOf(seconds));
    else this.outage.succeeded();
  }

  /** Whether the difference is too large for a node that accepts requests. */
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
  return `It is ${by}, which the service uses. Correct the wrong clock, and run a time service (NTP) on both machines.`;
}
