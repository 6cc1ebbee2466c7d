import { Injectable } from '@nestjs/common';
import { DatabaseTime, type ClockReading } from './database-time';

/** A clock that was set back by less shows as a time that stands still. */
const SET_BACK_MS_MIN = 1_000;

/** What time it is for a process: the database's time, as a time that goes back only when a clock was set (docs/adr/0049). */
export class ProcessTime {
  private readonly databaseTime = new DatabaseTime();
  private latestMs = -Infinity;

  /**
   * Epoch milliseconds by the database's clock; by the machine's own one before the database was asked for the first time. An
   * estimate that is put right lets the time stand still, however slow the look was.
   */
  nowMs(): number {
    const databaseMs = this.databaseTime.at(performance.now());
    return this.follow(databaseMs ?? Date.now(), databaseMs === undefined);
  }

  /** Records a reading of the database's clock. */
  learn(reading: ClockReading): void {
    const wasSet = this.databaseTime.learn(reading);
    this.follow(this.databaseTime.at(performance.now()) ?? this.latestMs, wasSet);
  }

  /** By how much this machine's own clock is ahead of the database's; undefined before the first look at that one. */
  machineAheadMs(): number | undefined {
    const databaseMs = this.databaseTime.at(performance.now());
    return databaseMs === undefined ? undefined : Date.now() - databaseMs;
  }

  private follow(ms: number, mayGoBack: boolean): number {
    if (ms > this.latestMs || (mayGoBack && ms < this.latestMs - SET_BACK_MS_MIN)) this.latestMs = ms;
    return this.latestMs;
  }
}

/** Notices that the database's clock was set back. */
export class ClockSetBack {
  private last: ClockReading | undefined;

  /** Returns the earliest time that the clock can have shown since it was set back, in epoch milliseconds; undefined: it was not. */
  learn(reading: ClockReading): number | undefined {
    const { last } = this;
    this.last = reading;
    if (last === undefined) return undefined;
    const passedMsMin = reading.askedMs - last.answeredMs;
    if (reading.databaseMs >= last.databaseMs + passedMsMin - SET_BACK_MS_MIN) return undefined;
    return reading.databaseMs - (reading.answeredMs - last.askedMs);
  }
}

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
  private readonly setBack = new ClockSetBack();
  private readonly listeners: ((since: Date) => void)[] = [];

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
    const sinceMs = this.setBack.learn(reading);
    if (sinceMs !== undefined) for (const listener of this.listeners) listener(new Date(sinceMs));
  }

  /**
   * Calls `listener` after the database's clock was set back by over a second, with the earliest time that it can have shown
   * since. Every process notices it within a second, and calls its own listeners.
   */
  onSetBack(listener: (since: Date) => void): void {
    this.listeners.push(listener);
  }

  /** By how much this machine's own clock is ahead of the database's; undefined before the first look at that one. */
  machineAheadMs(): number | undefined {
    return time.machineAheadMs();
  }
}
