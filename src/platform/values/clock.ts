import { Injectable } from '@nestjs/common';
import { DatabaseTime, type ClockReading } from './database-time';

/** A process has one database, and one time: ids are made outside of every injector. */
const databaseTime = new DatabaseTime();

/** What the database's time is set back by at least; less is an estimate that was put right, and shows as a time that stands still. */
const SET_BACK_MS_MIN = 1_000;

let latestMs = -Infinity;

/** Epoch milliseconds by the database's clock; by the machine's own one before the database was asked for the first time. */
export function currentTimeMs(): number {
  const ms = databaseTime.at(performance.now()) ?? Date.now();
  if (ms > latestMs || ms < latestMs - SET_BACK_MS_MIN) latestMs = ms;
  return latestMs;
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
    databaseTime.learn(reading);
  }

  /** By how much this machine's own clock is ahead of the database's; undefined before the first look at that one. */
  machineAheadMs(): number | undefined {
    const databaseMs = databaseTime.at(performance.now());
    return databaseMs === undefined ? undefined : Date.now() - databaseMs;
  }
}
