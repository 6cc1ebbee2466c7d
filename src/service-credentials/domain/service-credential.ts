import { type Scope, grants } from '../../platform/auth/scopes';
import { scopeMissing } from '../../platform/errors/challenges';
import type { Principal } from '../../platform/auth/principal';
import { DomainError } from '../../platform/errors/domain-error';

/** What a request may be signed with (contract section 2), by the names of RFC 9421. */
export const SIGNATURE_ALGORITHMS = ['ed25519', 'hmac-sha256'] as const;

export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

export function isSignatureAlgorithm(name: string): name is SignatureAlgorithm {
  return SIGNATURE_ALGORITHMS.some((algorithm) => algorithm === name);
}

/** The only scope of a signed request, for every source (contract section 2). */
export const SIGNATURE_SCOPE: Scope = 'external-events:write';

/** Upper case on the wire (contract section 2). */
export const SERVICE_CREDENTIAL_STATES = ['ACTIVE', 'REVOKED'] as const;

export type ServiceCredentialState = (typeof SERVICE_CREDENTIAL_STATES)[number];

/** Computed on every read. A credential never expires. */
export function serviceCredentialState({ revokedAt }: { readonly revokedAt: Date | null }): ServiceCredentialState {
  return revokedAt === null ? 'ACTIVE' : 'REVOKED';
}

/** 404, also for a credential of another workspace. */
export function noSuchServiceCredential(): DomainError {
  return new DomainError('not_found', 'There is no service credential with this id in this workspace.');
}

/**
 * A caller can grant only what it has, and signed requests may send external events of every source. Throws
 * `insufficient_scope` or `source_not_allowed`.
 */
export function assertMayIssue(caller: Principal): void {
  if (!grants(caller.scopes, SIGNATURE_SCOPE)) throw scopeMissing(SIGNATURE_SCOPE);
  if (caller.sources === null) return;
  const words =
    'A service credential may send every source; only a credential without a limit to sources can make one.';
  throw new DomainError('source_not_allowed', words);
}
