import { capFaults, countFaults, FAULTS_MAX, withoutCount } from './cap-faults';
import type { Fault } from './fault';

/** Collects faults. Beyond `faultsMax` they are only counted: hostile input can have hundreds of thousands. */
export class FaultList {
  private readonly listed: Fault[] = [];
  private uncollected = 0;

  constructor(private readonly faultsMax = FAULTS_MAX) {}

  /** How many faults are listed so far. */
  get listedCount(): number {
    return this.listed.length;
  }

  get isEmpty(): boolean {
    return this.listed.length + this.uncollected === 0;
  }

  /** `make` is called only for a fault that is listed: the message is the expensive part. */
  add(make: () => Fault): void {
    if (this.listed.length < this.faultsMax) this.listed.push(make());
    else this.uncollected += 1;
  }

  /** Adds faults of another list. */
  push(...faults: readonly Fault[]): void {
    const listed = withoutCount(faults).slice(0, Math.max(0, this.faultsMax - this.listed.length));
    for (const fault of listed) this.listed.push(fault);
    this.uncollected += countFaults(faults) - listed.length;
  }

  all(): readonly Fault[] {
    return capFaults(this.listed, this.faultsMax, this.uncollected);
  }
}
