import { constants, createHmac, generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto';
import { Client } from './client';

export type SigningAlgorithm = 'RS256' | 'PS256' | 'ES256' | 'HS256';
type Fields = Readonly<Record<string, unknown>>;

const HOUR_SECONDS = 3_600;

/** A key pair, or a shared secret, that tokens are signed with. */
export interface SigningKey {
  readonly alg: SigningAlgorithm;
  readonly kid: string;
  readonly key: KeyObject | string;
  /** Its public half as an entry of a JWK Set; for HS256 nothing of use. */
  readonly jwk: Fields;
}

export interface TokenIssuerOptions {
  /** What its tokens are signed with: ES256 unless named (pairs of RSA keys take time to make). HS256 registers a secret. */
  readonly alg?: SigningAlgorithm;
  /** Signs its tokens, instead of a key of its own. */
  readonly key?: SigningKey;
  /** Further fields of the body that registers it, or others instead of those that are made up. */
  readonly fields?: Fields;
}

/** An issuer of participants' tokens that a workspace has registered. */
export interface TokenIssuer {
  readonly issuer: string;
  readonly audience: string;
  /** The record as it was answered. */
  readonly record: any;
  readonly key: SigningKey;
  /**
   * A good token of a participant that no other test knows, for an hour. `claims` are beside its own and instead of them;
   * one that is undefined is left out.
   */
  token(claims?: Fields, header?: Fields): string;
  /** Calls the service with such a token. */
  participant(claims?: Fields): Client;
}

/** Registers an issuer with a key of its own in the workspace of `client`. */
export async function aTokenIssuer(client: Client, options: TokenIssuerOptions = {}): Promise<TokenIssuer> {
  const key = options.key ?? aSigningKey(options.alg);
  const issuer = `https://${randomUUID()}.example.com`;
  const source = typeof key.key === 'string' ? { secret: key.key } : { jwks: { keys: [key.jwk] } };
  const answer = await client.post('/v1/jwt-issuers', { issuer, audience: 'campaigns', ...source, ...options.fields });
  if (answer.status !== 201) throw new Error(`The issuer was not registered: ${JSON.stringify(answer.body)}`);
  const { body: record } = answer;
  const token = (claims: Fields = {}, header: Fields = {}): string =>
    signToken(key, { ...someClaims(record), ...claims }, header);
  return {
    issuer: record.issuer,
    audience: record.audience,
    record,
    key,
    token,
    participant: (claims) => new Client(client.url, token(claims)),
  };
}

/** The claims of a good token of a participant that no other test knows. */
export function someClaims({ issuer, audience }: { readonly issuer: string; readonly audience: string }): Fields {
  return { iss: issuer, aud: audience, sub: `participant-${randomUUID()}`, exp: nowSeconds() + HOUR_SECONDS };
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}

export function aSigningKey(alg: SigningAlgorithm = 'ES256'): SigningKey {
  const kid = randomUUID();
  if (alg === 'HS256') return { alg, kid, key: `shared secret ${randomUUID()}`, jwk: {} };
  const { privateKey, publicKey } =
    alg === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { alg, kid, key: privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' } };
}

/**
 * Signs whatever is given: the payload may be any text, and the header may name another algorithm than the one that signs,
 * as in a hostile token.
 */
export function signToken({ alg, kid, key }: SigningKey, payload: Fields | string, header: Fields = {}): string {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const signed = `${base64url(JSON.stringify({ alg, kid, typ: 'JWT', ...header }))}.${base64url(text)}`;
  return `${signed}.${signatureOf(alg, key, signed).toString('base64url')}`;
}

export function base64url(content: string | Buffer): string {
  return Buffer.from(content as string).toString('base64url');
}

function signatureOf(alg: SigningAlgorithm, key: KeyObject | string, text: string): Buffer {
  const data = Buffer.from(text);
  if (alg === 'HS256') return createHmac('sha256', key).update(data).digest();
  const padding = alg === 'PS256' ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
  const saltLength = constants.RSA_PSS_SALTLEN_DIGEST;
  const form = alg === 'ES256' ? { dsaEncoding: 'ieee-p1363' as const } : { padding, saltLength };
  return sign('sha256', data, { key: key as KeyObject, ...form });
}
