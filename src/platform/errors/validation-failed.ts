import { describeFaults } from './describe-faults';
import { DomainError } from './domain-error';
import type { Fault } from './fault';

/** `validation_failed` with all faults, and the message of `describeFaults` (contract section 1, 422). */
export function validationFailed(faults: readonly Fault[]): DomainError {
  return new DomainError('validation_failed', describeFaults(faults), { details: faults });
}
