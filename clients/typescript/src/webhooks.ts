/** How far `webhook-timestamp` may lie from now. */
const TOLERANCE_SECONDS = 300;
const SECRET_PREFIX = 'whsec_';
const PUBLIC_PREFIX = 'whpk_';

/** A call of a webhook is not to be trusted. `message` says why and repeats nothing of the call. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/** Headers of a request: a `Headers`, or an object as Node and Express have it. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A verified call (Standard Webhooks 1.0.0). */
export interface WebhookCall {
  /** The same for every attempt; use it to do nothing twice. */
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Verifies a call of a webhook and returns its content. `body` is the text as it came, not parsed and written again.
 * `secret` is the one of the endpoint (`whsec_…`, or the public key `whpk_…`). During a rotation either of the two works.
 * The comparison takes the same time whatever the signature. Throws `WebhookVerificationError` for a missing header,
 * a time more than five minutes away from now, or a signature by another secret.
 */
export async function verifyWebhook(
  body: string,
  headers: WebhookHeaders,
  secret: string,
  // eslint-disable-next-line no-restricted-syntax -- a client has no Clock, and must follow a machine whose clock is set
  nowMs: number = Date.now(),
): Promise<WebhookCall> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature').split(' ');
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('webhook-timestamp is not a time.');
  if (Math.abs(nowMs / 1_000 - Number(timestamp)) > TOLERANCE_SECONDS) {
    throw new WebhookVerificationError('webhook-timestamp is more than five minutes away from now.');
  }
  const isValid = await verifierOf(secret);
  const signed = Uint8Array.from(new TextEncoder().encode(`${id}.${timestamp}.${body}`));
  for (const signature of signatures) {
    if (await isValid(signature, signed)) return { id, ...(JSON.parse(body) as Omit<WebhookCall, 'id'>) };
  }
  throw new WebhookVerificationError('No signature is by this secret.');
}

type Verifier = (signature: string, signed: Uint8Array<ArrayBuffer>) => Promise<boolean>;

async function verifierOf(secret: string): Promise<Verifier> {
  const isPublic = secret.startsWith(PUBLIC_PREFIX);
  const raw = bytesOf(secret.slice(isPublic ? PUBLIC_PREFIX.length : SECRET_PREFIX.length));
  if (raw === undefined || (!isPublic && !secret.startsWith(SECRET_PREFIX))) {
    throw new WebhookVerificationError('The secret is not of the form whsec_… or whpk_….');
  }
  const algorithm = isPublic ? { name: 'Ed25519' } : { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', raw, algorithm, false, ['verify']).catch(() => {
    throw new WebhookVerificationError('The secret is not whole; copy it again.');
  });
  const version = isPublic ? 'v1a,' : 'v1,';
  return async (signature, signed) => {
    const bytes = signature.startsWith(version) ? bytesOf(signature.slice(version.length)) : undefined;
    return bytes !== undefined && crypto.subtle.verify(algorithm.name, key, bytes, signed);
  };
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value !== 'string' || value === '') throw new WebhookVerificationError(`The header ${name} is missing.`);
  return value;
}

/** Undefined: it is not base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
