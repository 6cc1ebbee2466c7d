import { describeFaults } from './describe-faults';
import { DomainError } from './domain-error';
import type { Fault } from './fault';

/** `validation_failed` with every fault that was found, in the words of `describeFaults` (contract section 1, 422). */
export function validationFailed(faults: readonly Fault[]): DomainError {
  return new DomainError('validation_failed', describeFaults(faults), { details: faults });
}
