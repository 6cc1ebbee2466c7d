/** Upper case on the wire (contract section 2). */
export const SERVICE_CREDENTIAL_STATES = ['ACTIVE', 'REVOKED'] as const;

export type ServiceCredentialState = (typeof SERVICE_CREDENTIAL_STATES)[number];

/** Worked out whenever it is read; a credential never expires. */
export function serviceCredentialState({ revokedAt }: { readonly revokedAt: Date | null }): ServiceCredentialState {
  return revokedAt === null ? 'ACTIVE' : 'REVOKED';
}
