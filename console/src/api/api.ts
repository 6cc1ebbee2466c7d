import { isAttended } from './activity';
import { ApiError, cutOff, errorOf, unreachable } from './api-error';
import { noteServiceTime } from './service-clock';
import type { Answer, CallOptions, HttpMethod, Operation, PathWith } from './api-types';

/** The path of the console without a final slash: `/console`, or longer behind a proxy that adds a prefix. */
export const BASE_PATH = new URL('.', document.baseURI).pathname.replace(/\/$/, '');

interface RawOptions {
  readonly path?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** What the shell does when a call finds the session ended, or without a fresh proof. */
interface SessionHandlers {
  readonly onSignedOut: () => void;
  /** Resolves to whether the caller has proven the key again. */
  readonly askForProof: () => Promise<boolean>;
}

let handlers: SessionHandlers = { onSignedOut: () => undefined, askForProof: () => Promise.resolve(false) };

export function handleSessionErrors(replacement: SessionHandlers): void {
  handlers = replacement;
}

/** The operations of the public API, called as the session's key. They reject with an `ApiError`. */
export const api = {
  get: caller('get'),
  post: caller('post'),
  put: caller('put'),
  patch: caller('patch'),
  delete: caller('delete'),
};

type OptionArguments<O> = object extends O ? [options?: O] : [options: O];

function caller<M extends HttpMethod>(method: M) {
  return async <P extends PathWith<M>>(
    path: P,
    ...[options]: OptionArguments<CallOptions<Operation<M, P>>>
  ): Promise<Answer<Operation<M, P>>> =>
    send(method, addressOf(path, options), options) as Promise<Answer<Operation<M, P>>>;
}

/** A call of the console's own routes, e.g. `/session`; the others go through `api`. */
export async function callConsole(method: HttpMethod, path: string, body?: unknown): Promise<unknown> {
  return send(method, path, { body });
}

/** The file that an operation answers with, e.g. an export. Rejects as `api` does. */
export async function download<P extends PathWith<'post'>>(
  path: P,
  options: CallOptions<Operation<'post', P>>,
): Promise<Blob> {
  const response = await answerOf('post', addressOf(path, options), options);
  return whole(response, response.blob(), options);
}

/** Whether the console would give a stream now. Browsers do not say why they get none: this rejects with the reason. */
export async function assertStream(address: string): Promise<true> {
  const stream = new AbortController();
  try {
    await answerOf('get', address, { signal: stream.signal });
    return true;
  } finally {
    stream.abort();
  }
}

async function send(method: HttpMethod, address: string, options: RawOptions = {}): Promise<unknown> {
  const response = await answerOf(method, address, options);
  return response.status === 204 ? undefined : whole(response, response.json(), options);
}

/** The body of an answer. Rejects with an `ApiError` where the connection was lost before its end. */
async function whole<Body>(response: Response, body: Promise<Body>, { signal }: RawOptions): Promise<Body> {
  try {
    return await body;
  } catch (error) {
    throw signal?.aborted === true ? error : cutOff(response);
  }
}

/** The successful answer, after a fresh proof where one is needed. */
async function answerOf(method: HttpMethod, address: string, options: RawOptions): Promise<Response> {
  const response = await request(method, address, options);
  if (response.ok) return response;
  const error = await errorOf(response);
  if (error.status === 401 && !(method === 'post' && address === '/session')) handlers.onSignedOut();
  const isProof = address.startsWith('/session');
  if (error.errorCode === 'proof_required' && !isProof && (await handlers.askForProof()))
    return answerOf(method, address, options);
  throw error;
}

async function request(method: HttpMethod, address: string, { body, signal }: RawOptions): Promise<Response> {
  const marker = isAttended() ? '1' : 'background';
  const headers: Record<string, string> = {
    accept: 'application/json, application/x-ndjson',
    'x-cds-console': method === 'get' ? marker : '1',
  };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const init: RequestInit = { method: method.toUpperCase(), headers, credentials: 'same-origin' };
  if (body !== undefined) init.body = JSON.stringify(body);
  if (signal !== undefined) init.signal = signal;
  try {
    const response = await fetch(`${BASE_PATH}/api${address}`, init);
    noteServiceTime(response);
    return response;
  } catch (error) {
    throw signal?.aborted === true ? error : unreachable();
  }
}

function addressOf(path: string, { path: parts = {}, query = {} }: RawOptions = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => stepOf(parts[name] ?? ''));
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (isGiven(value) ? [[name, String(value)]] : [])),
  ).toString();
  return search === '' ? filled : `${filled}?${search}`;
}

/**
 * A part of a path. Browsers take `.` and `..` for steps in it, however they are encoded: the call would go elsewhere. Throws
 * for these.
 */
function stepOf(part: string): string {
  if (part !== '.' && part !== '..') return encodeURIComponent(part);
  const message = `A browser cannot ask for ${part}, which means another place in an address. Use curl with --path-as-is.`;
  throw new ApiError(400, 'no_address', message, undefined);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** Whether it is worth to ask again: not after an answer that would be the same. */
export function isTransient(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}
