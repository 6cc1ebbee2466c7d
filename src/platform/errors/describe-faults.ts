import { countFaults } from './cap-faults';
import type { Fault } from './fault';

/**
 * One line for a list of faults, for `message` and `detail` of an answer and of a batch item: the message of the first
 * fault, and how many more there are.
 */
export function describeFaults(faults: readonly Fault[]): string {
  const [first] = faults;
  if (first === undefined) return 'The input is not valid.';
  const others = countFaults(faults) - 1;
  if (others === 0) return first.message;
  return `${first.message} (and ${others} more ${others === 1 ? 'fault' : 'faults'})`;
}
