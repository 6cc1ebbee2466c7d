import { countFaults } from './cap-faults';
import type { Fault } from './fault';

/**
 * The one line that stands for a list of faults, in `message` and `detail` of an answer and in a batch item: the first
 * fault's own words, and how many more there are.
 */
export function describeFaults(faults: readonly Fault[]): string {
  const [first] = faults;
  if (first === undefined) return 'The input is not valid.';
  const others = countFaults(faults) - 1;
  if (others === 0) return first.message;
  return `${first.message} (and ${others} more ${others === 1 ? 'fault' : 'faults'})`;
}
