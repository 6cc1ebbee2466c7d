import { scopeMissing } from '../platform/errors/challenges';
import type { Principal } from '../platform/auth/principal';
import { grants } from '../platform/auth/scopes';
import { DomainError } from '../platform/errors/domain-error';
import { SIGNATURE_SCOPE } from './domain/signature-scope';

/** 404, also for a credential of another workspace. */
export function noSuchServiceCredential(): DomainError {
  return new DomainError('not_found', 'There is no service credential with this id in this workspace.');
}

/**
 * A caller can grant only what it has, and signed requests may send external events of every source. Throws
 * `insufficient_scope` and `source_not_allowed`.
 */
export function assertMayIssue(caller: Principal): void {
  if (!grants(caller.scopes, SIGNATURE_SCOPE)) throw scopeMissing(SIGNATURE_SCOPE);
  if (caller.sources === null) return;
  const words =
    'A service credential may send every source; only a credential without a limit to sources can make one.';
  throw new DomainError('source_not_allowed', words);
}
