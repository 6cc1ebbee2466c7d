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
