import type { LookupFunction } from 'node:net';
import { performance } from 'node:perf_hooks';
import { LRUCache } from 'lru-cache';
import { Pool } from 'undici';
import { isObject } from '../../platform/values/json/json-values';
import { hostOfUrl, isPublicAddress, publicUrlFault } from '../../platform/net/public-address';
import type { ResolveHost } from '../../platform/net/resolve-host';
import { ATTEMPT_MS_MAX, type AttemptOutcome } from '../domain/webhook';

/** Of an answer; no more is read. */
export const ANSWER_CHARACTERS_MAX = 1_000;
/** A character has at most four bytes. */
const ANSWER_BYTES_MAX = 4 * ANSWER_CHARACTERS_MAX;
/** Hosts with open connections; beyond it those of the least recently used one are closed. */
const HOSTS_MAX = 500;
/** Connections to one host, idle ones included. */
export const CONNECTIONS_PER_HOST_MAX = 32;
/** An idle connection is closed after so long. */
const IDLE_MS_MAX = 10_000;

export interface WebhookClientOptions {
  /** Permits http and private addresses (WEBHOOKS_ALLOW_PRIVATE). */
  readonly allowPrivate: boolean;
  readonly resolve: ResolveHost;
  readonly timeMsMax?: number;
  /** Whether an address may be used without `allowPrivate`. */
  readonly isPublic?: (address: string) => boolean;
  /** The trusted certificate authorities, in PEM. Default: those of Node. */
  readonly ca?: string;
}

export interface WebhookCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What became of a call. Nothing in it names the address. */
export interface CallResult {
  readonly outcome: AttemptOutcome;
  readonly status: number | null;
  /** The first 1,000 characters. */
  readonly answer: string;
  readonly durationMs: number;
  /** The header of the answer. */
  readonly retryAfter: string | undefined;
}

class AddressRefusedError extends Error {}
class NotResolvedError extends Error {}
class OverdueError extends Error {}

/**
 * Sends webhooks (docs/adr/0068). It connects only to addresses that it has just checked, so that a changed DNS answer
 * does not lead into the network of the service. Redirects are not followed.
 */
export class WebhookClient {
  private readonly pools: LRUCache<string, Pool>;

  constructor(private readonly options: WebhookClientOptions) {
    this.pools = new LRUCache({
      max: HOSTS_MAX,
      // Calls that are under way end first.
      dispose: (pool) => void pool.close().catch(() => undefined),
    });
  }

  /** Never throws: a call that fails is a result. `stop` ends it early. */
  async post(call: WebhookCall, stop?: AbortSignal): Promise<CallResult> {
    const startedAt = performance.now();
    const ended = new AbortController();
    const timer = setTimeout(() => ended.abort(new OverdueError()), this.options.timeMsMax ?? ATTEMPT_MS_MAX);
    // `AbortSignal.any` would leave a reference at `stop` for each call, as long as the process lives.
    const end = (): void => ended.abort();
    stop?.addEventListener('abort', end, { once: true });
    if (stop?.aborted === true) end();
    const durationMs = (): number => Math.round(performance.now() - startedAt);
    try {
      if (publicUrlFault(call.url, this.options.allowPrivate) !== undefined) throw new AddressRefusedError();
      const answer = await this.send(call, ended.signal);
      return { ...answer, durationMs: durationMs() };
    } catch (error) {
      const outcome = ended.signal.reason instanceof OverdueError ? 'timed_out' : outcomeOf(error);
      return { outcome, status: null, answer: '', durationMs: durationMs(), retryAfter: undefined };
    } finally {
      clearTimeout(timer);
      stop?.removeEventListener('abort', end);
    }
  }

  /** Closes all connections; calls that are under way fail. */
  async close(): Promise<void> {
    const pools = [...this.pools.values()];
    await Promise.all(pools.map((pool) => pool.destroy().catch(() => undefined)));
  }

  private async send(
    { url, headers, body }: WebhookCall,
    signal: AbortSignal,
  ): Promise<Omit<CallResult, 'durationMs'>> {
    const { origin, pathname, search } = new URL(url);
    const response = await this.poolOf(url, origin).request({
      method: 'POST',
      path: pathname + search,
      headers: { ...headers, 'content-type': 'application/json', 'accept-encoding': 'identity' },
      body,
      signal,
    });
    const retryAfter = response.headers['retry-after'];
    const status = response.statusCode;
    return {
      outcome: status >= 200 && status < 300 ? 'delivered' : 'refused_status',
      status,
      // The status counts, even if the rest of the answer is lost.
      answer: await beginningOf(response.body),
      retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
    };
  }

  private poolOf(url: string, origin: string): Pool {
    const known = this.pools.get(origin);
    if (known !== undefined) return known;
    const { allowPrivate, resolve, isPublic = isPublicAddress, ca } = this.options;
    const timeMsMax = this.options.timeMsMax ?? ATTEMPT_MS_MAX;
    const host = hostOfUrl(new URL(url));
    const lookup: LookupFunction = (_host, { all }, answer) => {
      resolve(host, AbortSignal.timeout(timeMsMax)).then(
        (addresses) => {
          const [first] = addresses;
          if (first === undefined) answer(new NotResolvedError(), '');
          else if (!allowPrivate && !addresses.every(({ address }) => isPublic(address))) {
            answer(new AddressRefusedError(), '');
          } else if (all === true) answer(null, [...addresses]);
          else answer(null, first.address, first.family);
        },
        () => answer(new NotResolvedError(), ''),
      );
    };
    const pool = new Pool(origin, {
      connections: CONNECTIONS_PER_HOST_MAX,
      pipelining: 1,
      keepAliveTimeout: IDLE_MS_MAX,
      keepAliveMaxTimeout: IDLE_MS_MAX,
      headersTimeout: timeMsMax,
      bodyTimeout: timeMsMax,
      connect: { lookup, timeout: timeMsMax, ...(ca === undefined ? {} : { ca }) },
    });
    this.pools.set(origin, pool);
    return pool;
  }
}

/** The first characters of an answer, as far as they come. Closes the connection if there are more. */
async function beginningOf(body: AsyncIterable<Buffer> & { destroy(): void; on: unknown }): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk.subarray(0, ANSWER_BYTES_MAX));
      bytes += chunk.length;
      if (bytes >= ANSWER_BYTES_MAX) break;
    }
  } catch {
    // The connection was lost, or the time is over.
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, ANSWER_BYTES_MAX));
  // PostgreSQL's JSON takes no U+0000.
  return Array.from(text).slice(0, ANSWER_CHARACTERS_MAX).join('').replaceAll('\u0000', '\uFFFD');
}

function outcomeOf(error: unknown): AttemptOutcome {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof AddressRefusedError) return 'address_refused';
    if (at instanceof NotResolvedError) return 'not_resolved';
    const code = isObject(at) ? at['code'] : undefined;
    if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'UND_ERR_HEADERS_TIMEOUT') return 'timed_out';
  }
  return 'not_connected';
}
