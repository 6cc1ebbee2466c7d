import { FAULTS_MAX, fitFaults } from '../../platform/errors/cap-faults';
import type { Fault } from '../../platform/errors/fault';

/** Faults listed of one event. */
export const FAULTS_PER_EVENT_MAX = 100;

/**
 * Shares the faults that one answer lists among the events of a batch (contract section 3). Each event has one; what is left
 * goes to those that have more, in their order.
 */
export class FaultBudget {
  private left: number;

  constructor(events: number) {
    this.left = Math.max(0, FAULTS_MAX - events);
  }

  /** How many faults the next event may list; looking for more would be in vain. */
  get share(): number {
    return Math.min(FAULTS_PER_EVENT_MAX, 1 + this.left);
  }

  /** The faults of the next event as they are listed; its message says how many there are. */
  spend(faults: readonly Fault[]): readonly Fault[] {
    const listed = fitFaults(faults, this.share);
    this.left -= Math.max(0, listed.length - 1);
    return listed;
  }
}
