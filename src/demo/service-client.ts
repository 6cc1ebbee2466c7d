import { setTimeout as wait } from 'node:timers/promises';
import { DemoFailure } from './demo-failure';
import { fieldsOf, parseJson, readable } from './foreign-data';
import { retryAfterMs, retryDelayMs } from './retry-delay';

/** What the service said in the end; a status that is worth another attempt is never among it. */
export interface Reply {
  readonly status: number;
  /** Undefined when it was no JSON. */
  readonly body: unknown;
  /** How many requests it took. */
  readonly attempts: number;
}

export interface PostOptions {
  readonly attemptsMax: number;
  /** Ends the request, and the wait for the next one. */
  readonly signal?: AbortSignal;
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
/** A tour that stands still for longer is none. */
const RETRY_AFTER_MS_MAX = 60_000;

/** Posts JSON, again where that is safe and of use. */
export class ServiceClient {
  private hasAnswered = false;

  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {}

  /** Repeats what failed on the way, 408, 429 and 5xx. Throws `DemoFailure` when that does not help. */
  async post(path: string, body: unknown, { attemptsMax, signal }: PostOptions): Promise<Reply> {
    const json = JSON.stringify(body);
    for (let attempts = 1; ; attempts++) {
      const attempt = await this.attempt(path, json, signal);
      if (attempt.kind === 'answer' && !isTransient(attempt.status)) {
        return { status: attempt.status, body: attempt.body, attempts };
      }
      const askedMs = attempt.kind === 'answer' ? attempt.retryAfterMs : undefined;
      if (attempts >= attemptsMax || (askedMs ?? 0) > RETRY_AFTER_MS_MAX) throw this.failure(attempt);
      await wait(retryDelayMs(attempts, askedMs, Math.random()), undefined, signal === undefined ? {} : { signal });
    }
  }

  /** The failure of an answer that was not expected, in words for the person at the terminal. */
  refusal({ status, body }: Pick<Reply, 'status' | 'body'>): DemoFailure {
    const { error_code: code, message } = fieldsOf(body);
    if (typeof code !== 'string' || typeof message !== 'string') {
      return new DemoFailure(`${this.url} answered ${status}. Is this the Campaign Data Service? Name it with --url.`);
    }
    const advice = status === 401 || status === 403 ? ' The demo needs an admin key (--key or CDS_API_KEY).' : '';
    return new DemoFailure(`The service answered ${status} ${readable(code)}: ${readable(message)}${advice}`);
  }

  private async attempt(path: string, body: string, signal: AbortSignal | undefined): Promise<Attempt> {
    try {
      const response = await fetch(`${this.url}${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${this.key}`, 'Content-Type': 'application/json' },
        body,
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

  private failure(attempt: Attempt): DemoFailure {
    if (attempt.kind === 'answer') return this.refusal(attempt);
    return new DemoFailure(
      this.hasAnswered
        ? `The service at ${this.url} no longer answers (${attempt.reason}). Nothing is lost: run the demo again when it is back.`
        : `No service answers at ${this.url} (${attempt.reason}). Start it with "npm start", or name its address with --url.`,
    );
  }
}

function isTransient(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** `fetch failed` says nothing; what does is the code of the innermost cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  if (error.name === 'TimeoutError') return `no answer within ${ANSWER_MS_MAX / 1_000} s`;
  if (error.cause !== undefined) return reasonOf(error.cause);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
