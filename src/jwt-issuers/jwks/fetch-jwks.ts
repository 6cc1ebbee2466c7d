import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import type { LookupFunction } from 'node:net';
import { isObject } from '../../platform/values/json/json-values';
import { hostOfUrl, isPublicAddress, publicUrlFault } from '../../platform/net/public-address';
import { hostResolver, type ResolveHost } from '../../platform/net/resolve-host';

export interface FetchOptions {
  /** Permits http and private addresses (JWKS_ALLOW_PRIVATE). */
  readonly allowPrivate: boolean;
  readonly timeMsMax?: number;
  /** Default: the system's DNS servers. */
  readonly resolve?: ResolveHost;
  /** Whether an address may be used without `allowPrivate`. */
  readonly isPublic?: (address: string) => boolean;
  /** The trusted certificate authorities, in PEM. Default: those of Node. */
  readonly ca?: string;
}

/** The reason why no keys were fetched. It is logged, so it contains no address. */
export class JwksFetchError extends Error {}

/** For the whole fetch: DNS, redirects, and a slow body. */
const TIME_MS_MAX = 5_000;
const BODY_BYTES_MAX = 65_536;
const REDIRECTS_MAX = 3;
const REDIRECT_STATUSES: readonly (number | undefined)[] = [301, 302, 303, 307, 308];
const ERROR_CODE = /^[A-Z0-9_]{1,64}$/;
const askSystem = hostResolver([]);

/**
 * Fetches the entries of a JWK Set (contract section 2, `jwksUri`). It connects only to checked addresses, and checks again
 * at every redirect. So neither DNS rebinding nor a redirect leads into the network of the service. Throws `JwksFetchError`
 * for every failure.
 */
export async function fetchJwks(uri: string, options: FetchOptions): Promise<readonly unknown[]> {
  const signal = AbortSignal.timeout(options.timeMsMax ?? TIME_MS_MAX);
  try {
    // The race ends also when a step ignores the signal.
    return await Promise.race([follow(uri, options, signal), rejectionOn(signal)]);
  } catch (error) {
    if (signal.aborted) throw new JwksFetchError('It took too long.');
    if (error instanceof JwksFetchError) throw error;
    throw new JwksFetchError(`There was no whole answer${codeOf(error)}.`);
  }
}

async function follow(uri: string, options: FetchOptions, signal: AbortSignal): Promise<readonly unknown[]> {
  let at = uri;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const response = await get(at, options, signal);
    try {
      if (!REDIRECT_STATUSES.includes(response.statusCode)) return entriesOf(await bodyOf(response));
      const { location } = response.headers;
      if (location === undefined || !URL.canParse(location, at)) throw new JwksFetchError('A redirect names no URL.');
      at = new URL(location, at).href;
    } finally {
      response.destroy();
    }
  }
  throw new JwksFetchError(`There were more than ${REDIRECTS_MAX} redirects.`);
}

async function get(uri: string, options: FetchOptions, signal: AbortSignal): Promise<http.IncomingMessage> {
  const fault = publicUrlFault(uri, options.allowPrivate);
  if (fault !== undefined) throw new JwksFetchError(`The URL, or that of a redirect, ${fault}.`);
  const url = new URL(uri);
  const addresses = await checkedAddresses(hostOfUrl(url), options, signal);
  signal.throwIfAborted();
  const { request } = url.protocol === 'https:' ? https : http;
  const sent = request(url, {
    // A new connection each time: no keep-alive to foreign servers, and no global agent is involved.
    agent: false,
    lookup: answering(addresses),
    signal,
    headers: {
      accept: 'application/jwk-set+json, application/json',
      'accept-encoding': 'identity',
      'user-agent': 'campaign-data-service',
    },
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  // The request and the response both emit an error after the response began. Without a listener it would end the process.
  sent.on('error', () => undefined);
  sent.end();
  const [response] = (await once(sent, 'response')) as [http.IncomingMessage];
  return response;
}

async function checkedAddresses(
  host: string,
  { allowPrivate, resolve = askSystem, isPublic = isPublicAddress }: FetchOptions,
  signal: AbortSignal,
): Promise<readonly LookupAddress[]> {
  const addresses = await resolve(host, signal);
  if (!allowPrivate && !addresses.every(({ address }) => isPublic(address))) {
    throw new JwksFetchError('The host has an address that is not of the public Internet.');
  }
  return addresses;
}

/** A look-up that returns the checked addresses instead of resolving the name again. */
function answering(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, { all }, answer) => {
    if (all === true) answer(null, [...addresses]);
    else answer(null, addresses[0]?.address ?? '', addresses[0]?.family);
  };
}

async function rejectionOn(signal: AbortSignal): Promise<never> {
  await once(signal, 'abort');
  throw new Error('aborted');
}

async function bodyOf(response: http.IncomingMessage): Promise<Buffer> {
  if (response.statusCode !== 200) throw new JwksFetchError(`The answer has status ${String(response.statusCode)}.`);
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    throw new JwksFetchError('The answer is compressed, which was not requested.');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new JwksFetchError(`The answer has more than ${BODY_BYTES_MAX} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function entriesOf(body: Buffer): readonly unknown[] {
  let jwks: unknown;
  try {
    jwks = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new JwksFetchError('The answer is not JSON in UTF-8.');
  }
  if (!isObject(jwks) || !Array.isArray(jwks['keys'])) throw new JwksFetchError('The answer is not a JWK Set.');
  return jwks['keys'];
}

/** The code of a system error, such as ECONNREFUSED. Its message would contain the address. */
function codeOf(error: unknown): string {
  const code = isObject(error) ? error['code'] : undefined;
  return typeof code === 'string' && ERROR_CODE.test(code) ? ` (${code})` : '';
}
