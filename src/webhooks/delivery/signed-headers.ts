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
}

/**
 * The secrets that sign now, the newest first. Throws SecretBoxError if the newest cannot be read. One before it that
 * was sealed under a lost SECRETS_KEY is left out: a rotation is what replaces such a secret.
 */
export function openSecrets(
  box: SecretBox,
  { tenantId, endpointId, secret, previousSecret }: SealedSecrets,
): readonly string[] {
  const newest = box.open(secret, tenantId, endpointId);
  if (previousSecret === null) return [newest];
  try {
    return [newest, box.open(previousSecret, tenantId, endpointId)];
  } catch (error) {
    if (error instanceof SecretBoxError) return [newest];
    throw error;
  }
}
