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
