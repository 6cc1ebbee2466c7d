import { isObject } from '../../platform/values/json/json-values';

/** The unverified parts of a token that are needed to find its issuer and key. */
export interface TokenHead {
  readonly algorithm: string;
  readonly keyId: string | undefined;
  readonly issuer: string;
  /** 1 to 16. */
  readonly audiences: readonly string[];
}

export type ReadToken = { readonly head: TokenHead } | { readonly refused: string };

/** Each costs a look-up in the database. Tokens of real issuers have one or two. */
const AUDIENCES_MAX = 16;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads a JWT in compact form (RFC 7515) strictly: each part in canonical base64url, header and payload as JSON objects in
 * UTF-8. So every library reads the same values. `refused` is the reason, and repeats no value.
 */
export function readToken(token: string): ReadToken {
  const [headerPart, payloadPart, signaturePart, ...others] = token.split('.');
  const signature = decodeBase64url(signaturePart);
  const header = jsonObject(headerPart);
  const payload = jsonObject(payloadPart);
  if (header === undefined || payload === undefined || signature === undefined || others.length > 0) {
    return { refused: 'The token is not a JWT of three base64url parts, the first two of them JSON objects.' };
  }
  const { alg, kid, crit } = header;
  if (crit !== undefined) return { refused: 'The token asks for extensions (crit), of which this service knows none.' };
  if (typeof alg !== 'string') return { refused: 'The header of the token names no algorithm (alg).' };
  if (kid !== undefined && typeof kid !== 'string') return { refused: 'The key id (kid) of the token is no text.' };
  const { iss } = payload;
  if (typeof iss !== 'string') return { refused: 'The token names no issuer (iss).' };
  const audiences = audiencesOf(payload);
  if (audiences === undefined) {
    return {
      refused: `The token names no audience (aud), or it is neither a text nor a list of 1 to ${AUDIENCES_MAX}.`,
    };
  }
  return { head: { algorithm: alg, keyId: kid, issuer: iss, audiences } };
}

/** The distinct audiences of a payload. Undefined when there are none, too many, or any that is not a text. */
export function audiencesOf({ aud }: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  const listed: unknown[] = Array.isArray(aud) ? aud : [aud];
  const isSound = listed.length > 0 && listed.length <= AUDIENCES_MAX;
  return isSound && listed.every((each) => typeof each === 'string') ? [...new Set(listed)] : undefined;
}

function jsonObject(part: string | undefined): Readonly<Record<string, unknown>> | undefined {
  const bytes = decodeBase64url(part);
  if (bytes === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined for other alphabets, padding, and non-zero spare bits: each signature has exactly one encoding. */
function decodeBase64url(part: string | undefined): Buffer | undefined {
  if (part === undefined) return undefined;
  const bytes = Buffer.from(part, 'base64url');
  return bytes.toString('base64url') === part ? bytes : undefined;
}
