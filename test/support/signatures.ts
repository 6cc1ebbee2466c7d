import { createHash, createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { request } from 'node:http';
import type { Answer, Client } from './client';

/** What a client signs with: written from RFC 9421 and sharing nothing with the service. */
export interface Signer {
  readonly keyId: string;
  readonly algorithm: string;
  /** Bytes that a signature of the base is. */
  readonly signBase: (base: Buffer) => Buffer;
}

export interface SignedRequest {
  readonly method?: string;
  /** As it is sent, with its query. */
  readonly target: string;
  readonly body: string | Uint8Array;
}

/** What may be odd about a signature; all of it is covered by the signature, so that nothing else is wrong. */
export interface SignatureOptions {
  readonly label?: string;
  /** With their quotes, as they stand in the list. */
  readonly components?: readonly string[];
  /** Seconds since 1970, from now. */
  readonly age?: number;
  /** As they stand behind the list; instead of all others. */
  readonly parameters?: string;
  readonly contentDigest?: string;
}

export type SignatureHeaders = Readonly<Record<'content-digest' | 'signature-input' | 'signature', string>>;

export const COMPONENTS = ['"@method"', '"@path"', '"@query"', '"content-digest"'] as const;

export function digestOf(body: string | Uint8Array, name: 'sha-256' | 'sha-512' = 'sha-256'): string {
  return `${name}=:${createHash(name.replace('-', '')).update(body).digest('base64')}:`;
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}

/** The headers that sign a request. */
export function signatureOf(signer: Signer, request: SignedRequest, options: SignatureOptions = {}): SignatureHeaders {
  const { label = 'sig1', components = COMPONENTS, age = 0, contentDigest = digestOf(request.body) } = options;
  const created = nowSeconds() - age;
  const parameters = options.parameters ?? `;created=${created};keyid="${signer.keyId}";alg="${signer.algorithm}"`;
  const covered = `(${components.join(' ')})${parameters}`;
  const base = baseOf(request, contentDigest, components, covered);
  const signature = signer.signBase(Buffer.from(base, 'latin1')).toString('base64');
  return {
    'content-digest': contentDigest,
    'signature-input': `${label}=${covered}`,
    signature: `${label}=:${signature}:`,
  };
}

function baseOf(
  { method = 'POST', target }: SignedRequest,
  contentDigest: string,
  components: readonly string[],
  covered: string,
): string {
  const [path, ...query] = target.split('?');
  const values: Readonly<Record<string, string | undefined>> = {
    '"@method"': method,
    '"@path"': path,
    '"@query"': `?${query.join('?')}`,
    '"content-digest"': contentDigest,
  };
  const lines = components.map((component) => `${component}: ${values[component.replace(/;.*$/, '')] ?? 'anything'}`);
  return [...lines, `"@signature-params": ${covered}`].join('\n');
}

export function ed25519Signer(keyId: string, privateKey: KeyObject): Signer {
  return { keyId, algorithm: 'ed25519', signBase: (base) => sign(null, base, privateKey) };
}

/** The key is the bytes of the text as it is. */
export function hmacSigner(keyId: string, secret: string): Signer {
  return {
    keyId,
    algorithm: 'hmac-sha256',
    signBase: (base) => createHmac('sha256', Buffer.from(secret, 'utf8')).update(base).digest(),
  };
}

export function aKeyPair(): { readonly publicPem: string; readonly privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(), privateKey };
}

/** A credential with a pair of its own, made by this client. */
export async function anEd25519Signer(client: Client): Promise<Signer> {
  const { publicPem: publicKey, privateKey } = aKeyPair();
  const request = { name: 'signs with a pair', algorithm: 'ed25519', publicKey };
  const { status, body } = await client.post('/v1/service-credentials', request);
  expect([status, body.secret]).toEqual([201, undefined]);
  return ed25519Signer(body.serviceCredential.id, privateKey);
}

/** A credential with a secret of the service's making. */
export async function anHmacSigner(client: Client): Promise<Signer> {
  const request = { name: 'signs with a secret', algorithm: 'hmac-sha256' };
  const { status, body } = await client.post('/v1/service-credentials', request);
  expect([status, typeof body.secret]).toEqual([201, 'string']);
  return hmacSigner(body.serviceCredential.id, body.secret);
}

/** A header with a list of values is sent in as many lines; undefined leaves it out. */
export type RawHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Sends a request as it is: fetch would fold its target and join its headers. */
export function sendRaw(
  url: string,
  { method = 'POST', target, body }: SignedRequest,
  headers: RawHeaders,
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const sent = Object.entries<RawHeaders[string]>({ 'content-type': 'application/json', ...headers }).flatMap(
    ([name, value]) => (value === undefined ? [] : [[name, value]]),
  );
  const bytes = Buffer.from(body);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        hostname,
        port,
        method,
        path: target,
        headers: { ...Object.fromEntries(sent), 'content-length': bytes.length },
      },
      (incoming) => {
        const parts: Buffer[] = [];
        incoming
          .on('data', (part: Buffer) => parts.push(part))
          .on('end', () => {
            const answer = JSON.parse(Buffer.concat(parts).toString());
            resolve({
              status: incoming.statusCode ?? 0,
              headers: new Headers(incoming.headers as never),
              body: answer,
            });
          });
      },
    );
    outgoing.on('error', reject).end(bytes);
  });
}

/** Signs a request and sends it. */
export function sendSigned(
  url: string,
  signer: Signer,
  signed: SignedRequest,
  options: SignatureOptions = {},
): Promise<Answer> {
  return sendRaw(url, signed, signatureOf(signer, signed, options));
}
