import type { Fault } from '../../platform/errors/fault';
import { requiredFault } from '../../platform/errors/fault-words';
import { holdsPrivateKey, normalizedPublicKey, privateKeyFault } from './public-key';
import type { SignatureAlgorithm } from './signature-algorithms';

export interface CredentialKeyRequest {
  readonly algorithm: SignatureAlgorithm;
  readonly publicKey?: string | undefined;
}

/** What a new credential is verified with: the caller's public key, or a secret that is still to be made. */
export type CredentialKey =
  | { readonly algorithm: 'ed25519'; readonly publicKey: string }
  | { readonly algorithm: 'hmac-sha256'; readonly publicKey: null };

/** Checks the key of a new credential against its algorithm (contract section 2); `canSeal`: whether a secret can be kept. */
export function credentialKey(
  { algorithm, publicKey }: CredentialKeyRequest,
  canSeal: boolean,
): CredentialKey | { readonly faults: readonly Fault[] } {
  if (publicKey !== undefined && holdsPrivateKey(publicKey)) return { faults: [privateKeyFault()] };
  if (algorithm === 'hmac-sha256') {
    const faults = [
      ...(publicKey === undefined ? [] : [needlessKeyFault()]),
      ...(canSeal ? [] : [noSecretsKeyFault()]),
    ];
    return faults.length > 0 ? { faults } : { algorithm, publicKey: null };
  }
  if (publicKey === undefined) return { faults: [requiredFault('publicKey')] };
  const normalized = normalizedPublicKey(publicKey);
  return 'fault' in normalized ? { faults: [normalized.fault] } : { algorithm, publicKey: normalized.pem };
}

function needlessKeyFault(): Fault {
  const message = 'publicKey is for ed25519; the secret of hmac-sha256 is made by the service. Leave it out.';
  return { path: 'publicKey', code: 'conflicting_fields', message };
}

function noSecretsKeyFault(): Fault {
  const message =
    'The service has no SECRETS_KEY, so it cannot keep secrets; use ed25519, or have its operator set one.';
  return { path: 'algorithm', code: 'secrets_key_missing', message };
}
