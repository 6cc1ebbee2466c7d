import type { Settings } from '../config/settings';
import { ERROR_CODES, type ErrorCode } from './error-codes';

/** Statuses that the operator has chosen instead of those of `ERROR_CODES`; the code of the refusal stays. */
export type StatusPolicy = Readonly<Partial<Record<ErrorCode, number>>>;

/** The refusals that are 403 or 409 "depending on policy" (contract section 1). */
export function statusPolicy({ variableLimitStatus, contextViolationStatus }: Settings): StatusPolicy {
  return { variable_limit_exceeded: Number(variableLimitStatus), context_violation: Number(contextViolationStatus) };
}

/** The HTTP status of a refusal. */
export function statusOf(code: ErrorCode, policy: StatusPolicy): number {
  return policy[code] ?? ERROR_CODES[code].status;
}
