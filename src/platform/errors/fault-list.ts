import { capFaults, countFaults, FAULTS_MAX, withoutCount } from './cap-faults';
import type { Fault } from './fault';

/** Faults as they are found. Beyond `faultsMax` they are only counted: hostile input has them by the hundred thousand. */
export class FaultList {
  private readonly listed: Fault[] = [];
  private uncollected = 0;

  constructor(private readonly faultsMax = FAULTS_MAX) {}

  /** How many faults the answer will have, as far as they were found. */
  get listedCount(): number {
    return this.listed.length;
  }

  get isEmpty(): boolean {
    return this.listed.length + this.uncollected === 0;
  }

  /** `make` is called only for a fault that is listed: most of a fault's cost is in its words. */
  add(make: () => Fault): void {
    if (this.listed.length < this.faultsMax) this.listed.push(make());
    else this.uncollected += 1;
  }

  /** Faults that somebody else has found. */
  push(...faults: readonly Fault[]): void {
    const listed = withoutCount(faults).slice(0, Math.max(0, this.faultsMax - this.listed.length));
    for (const fault of listed) this.listed.push(fault);
    this.uncollected += countFaults(faults) - listed.length;
  }

  all(): readonly Fault[] {
    return capFaults(this.listed, this.faultsMax, this.uncollected);
  }
}
