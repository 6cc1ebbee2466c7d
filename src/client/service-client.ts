import { setTimeout as wait } from 'node:timers/promises';
import { readError } from './batch-answers';
import { ClientFailure } from './client-failure';
import { parseJson, readable } from './foreign-data';
import { retryAfterMs, retryDelayMs } from './retry-delay';

/** What the service said in the end; a status that is worth another attempt is never among it. */
export interface Reply {
  readonly status: number;
  /** Undefined when it was no JSON. */
  readonly body: unknown;
  /** How many requests it took. */
  readonly attempts: number;
}

/** What has gone wrong so far, without an attempt that succeeded in between. */
export interface Failing {
  readonly attempts: number;
  /** Since the first attempt failed. */
  readonly failingMs: number;
  /** What `Retry-After` asked for. */
  readonly askedMs: number;
  /** Until the next attempt. */
  readonly waitMs: number;
  /** Why, in a few words. */
  readonly reason: string;
}

export interface RequestOptions {
  /** Whether to try again; what it is told it may also show. */
  readonly retries: (failing: Failing) => boolean;
  /** Ends the request under way. */
  readonly signal?: AbortSignal;
  /** Ends the wait for the next attempt. */
  readonly waitSignal?: AbortSignal | undefined;
}

/** What to tell a person beyond what happened. */
export interface Advice {
  /** At 401 and 403. */
  readonly credential: string;
  /** When nobody answers any more. */
  readonly silence: string;
}

interface ServiceRequest {
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

type Attempt =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly body: unknown;
      readonly retryAfterMs: number | undefined;
    }
  | { readonly kind: 'silence'; readonly reason: string };

/** A batch takes milliseconds; whoever has not answered by then has lost the request. */
const ANSWER_MS_MAX = 30_000;

/** Asks the service, again where that is of use; all that is posted may be posted again. */
export class ServiceClient {
  private hasAnswered = false;

  constructor(
    private readonly url: string,
    private readonly key: string,
    private readonly advice: Advice,
  ) {}

  post(path: string, json: string, options: RequestOptions): Promise<Reply> {
    const headers = { 'Content-Type': 'application/json' };
    return this.request(path, { method: 'POST', headers, body: json }, options);
  }

  get(path: string, options: RequestOptions): Promise<Reply> {
    return this.request(path, { method: 'GET' }, options);
  }

  /** What stands at a path that needs no credential, asked once; undefined when it is not there. */
  async text(path: string): Promise<string | undefined> {
    try {
      const response = await fetch(`${this.url}${path}`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
      const text = await response.text();
      return response.status === 200 ? text : undefined;
    } catch {
      return undefined;
    }
  }

  /** Repeats what failed on the way, 408, 429 and 5xx, as long as `retries` says so; then throws `ClientFailure`. */
  private async request(
    path: string,
    init: ServiceRequest,
    { retries, signal, waitSignal }: RequestOptions,
  ): Promise<Reply> {
    let failingSince: number | undefined;
    for (let attempts = 1; ; attempts++) {
      const attempt = await this.attempt(path, init, signal);
      if (attempt.kind === 'answer' && !isTransient(attempt.status)) {
        return { status: attempt.status, body: attempt.body, attempts };
      }
      failingSince ??= performance.now();
      const askedMs = attempt.kind === 'answer' ? attempt.retryAfterMs : undefined;
      const waitMs = retryDelayMs(attempts, askedMs, Math.random());
      const failingMs = performance.now() - failingSince;
      const reason = reasonOfAttempt(attempt);
      if (!retries({ attempts, failingMs, askedMs: askedMs ?? 0, waitMs, reason })) throw this.failure(attempt);
      const ends = waitSignal ?? signal;
      await wait(waitMs, undefined, ends === undefined ? {} : { signal: ends });
    }
  }

  /** The failure of an answer that was not expected, in words for the person at the terminal. */
  refusal({ status, body }: Pick<Reply, 'status' | 'body'>): ClientFailure {
    const error = readError(body);
    if (error === undefined) {
      return new ClientFailure(
        `${this.url} answered ${status}. Is this the Campaign Data Service? Name it with --url.`,
      );
    }
    const advice = status === 401 || status === 403 ? ` ${this.advice.credential}` : '';
    const { errorCode, message } = error;
    return new ClientFailure(`The service answered ${status} ${readable(errorCode)}: ${readable(message)}${advice}`);
  }

  private async attempt(path: string, init: ServiceRequest, signal: AbortSignal | undefined): Promise<Attempt> {
    try {
      const response = await fetch(`${this.url}${path}`, {
        ...init,
        headers: { ...init.headers, Authorization: `Bearer ${this.key}` },
        // Followed, a POST would become a GET.
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(ANSWER_MS_MAX), ...(signal === undefined ? [] : [signal])]),
      });
      const text = await response.text();
      this.hasAnswered = true;
      return {
        kind: 'answer',
        status: response.status,
        body: parseJson(text),
        retryAfterMs: retryAfterMs(response.headers),
      };
    } catch (error) {
      signal?.throwIfAborted();
      return { kind: 'silence', reason: reasonOf(error) };
    }
  }

  private failure(attempt: Attempt): ClientFailure {
    if (attempt.kind === 'answer') return this.refusal(attempt);
    return new ClientFailure(
      this.hasAnswered
        ? `The service at ${this.url} no longer answers (${attempt.reason}). ${this.advice.silence}`
        : `No service answers at ${this.url} (${attempt.reason}). Start it with "npm start", or name its address with --url.`,
    );
  }
}

function isTransient(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

function reasonOfAttempt(attempt: Attempt): string {
  return attempt.kind === 'silence' ? `no answer (${attempt.reason})` : `answered ${attempt.status}`;
}

/** `fetch failed` says nothing; what does is the code of the innermost cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  if (error.name === 'TimeoutError') return `no answer within ${ANSWER_MS_MAX / 1_000} s`;
  if (error.cause !== undefined) return reasonOf(error.cause);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
