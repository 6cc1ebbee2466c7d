import { scopeMissing } from '../platform/errors/challenges';
import type { Principal } from '../platform/auth/principal';
import { grants, type Scope } from '../platform/auth/scopes';
import { DomainError } from '../platform/errors/domain-error';

/** 404, also for a key of another workspace. */
export function noSuchApiKey(): DomainError {
  return new DomainError('not_found', 'There is no API key with this id in this workspace.');
}

/** 409: a revoked key cannot be rotated. */
export function apiKeyIsRevoked({ rotatedTo }: { readonly rotatedTo: string | null }): DomainError {
  const words =
    rotatedTo === null
      ? 'The API key was revoked and stays so; create a new one.'
      : 'The API key was rotated already; rotate the key that replaced it, which its rotatedTo names.';
  return new DomainError('key_revoked', words);
}

/** What a key may do. */
export interface Grant {
  readonly scopes: readonly Scope[];
  /** Undefined: every source. */
  readonly sources?: readonly string[] | undefined;
}

/** A caller can grant only what it has. Throws `insufficient_scope` or `source_not_allowed`. */
export function assertMayGrant(caller: Principal, { scopes, sources }: Grant): void {
  const lacking = scopes.find((scope) => !grants(caller.scopes, scope));
  if (lacking !== undefined) throw scopeMissing(lacking);
  const allowed = caller.sources;
  if (allowed !== null && (sources === undefined || sources.some((source) => !allowed.has(source)))) {
    const words = 'A key can only be given sources that the credential itself may send.';
    throw new DomainError('source_not_allowed', words);
  }
}
