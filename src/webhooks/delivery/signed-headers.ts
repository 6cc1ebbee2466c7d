import { LRUCache } from 'lru-cache';
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

/** Endpoints whose secrets are held in memory. */
const ENDPOINTS_MAX = 1_000;

interface Opened {
  /** What was opened. A rotation makes another text of it. */
  readonly sealed: string;
  readonly secrets: readonly string[];
}

/** The secrets of endpoints that were used lately: opening one costs as much as signing with it. */
export class OpenedSecrets {
  private readonly known = new LRUCache<string, Opened>({ max: ENDPOINTS_MAX });

  constructor(private readonly box: SecretBox) {}

  /** As `openSecrets`. */
  of(endpoint: SealedSecrets): readonly string[] {
    const { endpointId, secret, previousSecret, olderSecret } = endpoint;
    const sealed = [secret, previousSecret, olderSecret].map((each) => each?.toString('base64') ?? '').join();
    const known = this.known.get(endpointId);
    if (known?.sealed === sealed) return known.secrets;
    const secrets = openSecrets(this.box, endpoint);
    this.known.set(endpointId, { sealed, secrets });
    return secrets;
  }
}
