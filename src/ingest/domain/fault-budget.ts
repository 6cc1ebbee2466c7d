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

  /** How many faults the next event may list; there is no use in finding more. */
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

/** Of batches with more events than an answer may list faults, the last refused events have their messages alone. */
export function capListedFaults<Result extends object>(results: readonly Result[]): Result[] {
  let left = FAULTS_MAX;
  return results.map((result) => {
    if (!('details' in result) || !Array.isArray(result.details)) return result;
    const details = (result.details as readonly Fault[]).slice(0, left);
    left -= details.length;
    return { ...result, details };
  });
}
