import { SecretBoxError, type SecretBox } from '../../platform/secrets/secret-box';
import { signatureHeader } from '../domain/standard-webhooks';

/** The headers of Standard Webhooks. `secrets`: the newest first. */
export function signedHeaders(id: string, at: Date, body: string, secrets: readonly string[]): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1_000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureHeader(secrets, { id, timestamp, body }),
    'user-agent': 'campaign-data-service',
  };
}

/** What `openSecrets` needs of an endpoint. */
export interface SealedSecrets {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly secret: Buffer;
  /** Null: it does not sign, or not any more. */
  readonly previousSecret: Buffer | null;
  /** The one before it. */
  readonly olderSecret: Buffer | null;
}

/**
 * The secrets that sign now, the newest first. Throws SecretBoxError if the newest cannot be read. Earlier ones that
 * were sealed under a lost SECRETS_KEY are left out: a rotation is what replaces such a secret.
 */
export function openSecrets(
  box: SecretBox,
  { tenantId, endpointId, secret, previousSecret, olderSecret }: SealedSecrets,
): readonly string[] {
  const newest = box.open(secret, tenantId, endpointId);
  const earlier = [previousSecret, olderSecret].flatMap((sealed) => {
    try {
      return sealed === null ? [] : [box.open(sealed, tenantId, endpointId)];
    } catch (error) {
      if (error instanceof SecretBoxError) return [];
      throw error;
    }
  });
  return [newest, ...earlier];
}
