import { errorOf, jsonOf, networkError, unexpected } from './answers.js';
import { CampaignDataError } from './errors.js';
import { type CallSignals, type RetryPolicy, TIMER_MS_MAX, withRetries } from './retry.js';

/** A credential, or a function that gives one before each attempt. */
export type Credential = string | (() => string | Promise<string>);

export interface ConnectionOptions {
  readonly baseUrl: string;
  readonly credential: Credential;
  /** Sent as `X-Workspace`. */
  readonly workspace?: string | undefined;
  readonly retry: RetryPolicy;
  readonly fetch: typeof fetch | undefined;
}

export interface Call extends CallSignals {
  readonly method: 'GET' | 'POST';
  /** With its query. */
  readonly path: string;
  /** JSON. */
  readonly body?: string;
}

export interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
  readonly headers: Headers;
}

/** The way to the service, with one credential. */
export interface Connection {
  readonly retry: RetryPolicy;
  /** Sends a call once, for at most `msMax` milliseconds. Throws CampaignDataError, and what the call was aborted with. */
  readonly attempt: <Body>(call: Call, msMax: number) => Promise<Answer<Body>>;
}

/**
 * Sends a call, and repeats it while that may help. `isOurs`: whether the service gives such a body. Another server, such as a
 * proxy, may answer with a success of its own, and then nothing has taken effect.
 */
export function send<Body>(
  { attempt, retry }: Connection,
  call: Call,
  isOurs: (body: unknown) => boolean = () => true,
): Promise<Answer<Body>> {
  const once = async (msMax: number): Promise<Answer<Body>> => {
    const answer = await attempt<Body>(call, msMax);
    if (!isOurs(answer.body)) throw unexpected(answer);
    return answer;
  };
  return withRetries(once, retry, call);
}

/** Characters that a header can carry; others would cause an error of fetch that contains the credential. */
const SENDABLE = /^[\x21-\x7e]+$/;

/** The credential stays in this closure: no object that could be logged holds it. */
export function connect({ baseUrl, credential, workspace, retry, fetch: chosen }: ConnectionOptions): Connection {
  const base = baseOf(baseUrl);
  if (typeof credential === 'string') sendable(credential);
  const named = workspace === undefined ? {} : { 'X-Workspace': workspaceName(workspace) };
  const attempt = async <Body>({ method, path, body, signal }: Call, msMax: number): Promise<Answer<Body>> => {
    signal?.throwIfAborted();
    // Otherwise it would go on with the name of the host, and the credential to another one.
    if (!path.startsWith('/')) throw new TypeError('The path does not begin with a slash.');
    const deadline = AbortSignal.timeout(Math.ceil(Math.min(Math.max(0, msMax), TIMER_MS_MAX)));
    const either = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
    const bearer = sendable(typeof credential === 'string' ? credential : await answerOf(credential, either));
    const headers: Record<string, string> = { Accept: 'application/json', Authorization: `Bearer ${bearer}`, ...named };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const request = { ...UNATTENDED, method, headers, signal: either, ...(body === undefined ? {} : { body }) };
    try {
      const response = await (chosen ?? fetch)(`${base}${path}`, request);
      if (!response.ok) throw await errorOf(response);
      return { status: response.status, body: await jsonOf<Body>(response), headers: response.headers };
    } catch (error) {
      if (error instanceof CampaignDataError) throw error;
      throw networkError(deadline.aborted ? 'timeout' : 'network_error', error);
    }
  };
  return { attempt, retry };
}

/** No cookies are sent, and no redirect is followed: it would carry the credential to another place. */
const UNATTENDED = { credentials: 'omit', redirect: 'manual' } as const satisfies RequestInit;

/** What the function for a credential gives. It may never answer: then the call ends as it does while the service is silent. */
function answerOf(credential: () => string | Promise<string>, end: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const onEnd = (): void => reject(networkError('timeout', end.reason));
    end.addEventListener('abort', onEnd, { once: true });
    Promise.resolve()
      .then(credential)
      .finally(() => end.removeEventListener('abort', onEnd))
      .then(resolve, reject);
  });
}

/** A function of a program in JavaScript may return anything. */
function sendable(credential: unknown): string {
  if (typeof credential !== 'string') throw new TypeError('The function for the credential returned no string.');
  if (SENDABLE.test(credential)) return credential;
  throw new TypeError('The credential is empty, or has characters that a header cannot carry.');
}

/** An empty name is mostly a variable that is not set; the service would refuse it. */
function workspaceName(workspace: string): string {
  if (SENDABLE.test(workspace)) return workspace;
  throw new TypeError('The workspace is empty, or has characters that a header cannot carry.');
}

/** Throws a TypeError without the address, which may hold a password. */
function baseOf(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError('baseUrl is not an absolute http or https URL.');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError('baseUrl has a user, a query or a fragment; give the credential as apiKey or token.');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
