import { once } from 'node:events';
import { connect } from 'node:net';
import type { ErrorCode } from '../../src/platform/errors/error-codes';
import { answered } from './client';
import { noteSecrets } from './log-watch';
import { addressOf, type Operation } from './operations';
import { sendRaw, type RawHeaders } from './signatures';

/** What a client sends to an operation, beside what every client sends. */
export interface Attempt {
  readonly headers: RawHeaders;
  /** Without its question mark; none when absent. */
  readonly query?: string;
  /** The operation's own when absent. */
  readonly body?: string;
}

/** A missing or invalid credential that must be refused, and the refusal. */
export interface Column<Means> {
  readonly code: RefusalCode;
  readonly attempt: (means: Means, operation: Operation) => Attempt | Promise<Attempt>;
  /** What the message has to say. */
  readonly words?: RegExp;
  /** Only the body shows it: the refusal cannot come before the body is read. */
  readonly bodyNeeded?: boolean;
}

export type Columns<Means> = Readonly<Record<string, Column<Means>>>;

const REALM = 'Bearer realm="campaign-data-service"';
const INVALID = `${REALM}, error="invalid_token"`;
const FORBIDDEN = `${REALM}, error="insufficient_scope"`;
/** RFC 6750, section 3. */
const CHALLENGES = {
  // The challenge to a request without credentials names no error (RFC 6750, 3.1).
  unauthenticated: () => REALM,
  invalid_api_key: () => INVALID,
  api_key_expired: () => INVALID,
  api_key_revoked: () => INVALID,
  invalid_token: () => INVALID,
  invalid_signature: () => INVALID,
  insufficient_scope: ({ scope }: Operation) => `${FORBIDDEN}, scope="${scope ?? 'none'}"`,
  source_not_allowed: () => FORBIDDEN,
  context_violation: () => FORBIDDEN,
} as const satisfies Partial<Record<ErrorCode, (operation: Operation) => string>>;
type RefusalCode = keyof typeof CHALLENGES;

const FORBIDDEN_CODES: readonly RefusalCode[] = ['insufficient_scope', 'source_not_allowed', 'context_violation'];
const ANSWER_MS_MAX = 5_000;
const ABSENT_BODY_BYTES = '10000000';

export const bearer = (credential: string): Attempt => ({ headers: { authorization: `Bearer ${credential}` } });

/** The target and body of an attempt, as they are sent and as they are to be signed. */
export function requestOf(operation: Operation, { query, body }: Omit<Attempt, 'headers'> = {}) {
  const target = `${addressOf(operation)}${query === undefined ? '' : `?${query}`}`;
  return { method: operation.method, target, body: operation.method === 'GET' ? '' : (body ?? operation.body) };
}

/** Asserts that no attempt gets in anywhere, and that each refusal has its code, its challenge and not a word of the credential. */
export async function expectRefusals<Means>(
  url: string,
  means: Means,
  operations: readonly Operation[],
  { code, words, attempt }: Column<Means>,
): Promise<void> {
  const refusals = operations.map(async (operation) => {
    const sent = await attempt(means, operation);
    const { status, headers, body } = await sendAttempt(url, operation, sent);
    const { error_code, status: bodyStatus, message } = body;
    const answerText = `${JSON.stringify(body)} ${JSON.stringify([...headers])}`;
    return {
      name: operation.name,
      status,
      code: error_code,
      bodyStatus,
      type: headers.get('content-type'),
      challenge: headers.get('www-authenticate'),
      caching: headers.get('cache-control'),
      says: words === undefined || words.test(message) ? 'what it should' : message,
      repeats: secretsIn(sent).filter((secret) => answerText.includes(secret)),
    };
  });
  expect(operations).not.toEqual([]);
  expect(await Promise.all(refusals)).toEqual(
    operations.map((operation) => ({
      name: operation.name,
      status: statusOf(code),
      code,
      bodyStatus: statusOf(code),
      type: 'application/problem+json',
      challenge: CHALLENGES[code](operation),
      caching: 'no-store',
      says: 'what it should',
      repeats: [],
    })),
  );
}

/** No operation takes a list: an accepted credential gets this fault, and nothing happens. */
export const WRONG_BODY = '[]';

/** Asserts that attempts, with `WRONG_BODY`, get in: the refusal is then not about the credential. */
export async function expectEntry(
  url: string,
  operations: readonly Operation[],
  attempt: (operation: Operation) => Attempt | Promise<Attempt>,
): Promise<void> {
  const answers = operations.map(async (operation) => {
    const sent = { body: WRONG_BODY, ...(await attempt(operation)) };
    const { status, headers } = await sendAttempt(url, operation, sent);
    return {
      name: operation.name,
      isIn: ![401, 403, 429].includes(status),
      challenge: headers.get('www-authenticate'),
    };
  });
  expect(operations).not.toEqual([]);
  expect(await Promise.all(answers)).toEqual(operations.map(({ name }) => ({ name, isIn: true, challenge: null })));
}

/** Asserts that each refusal comes although not one byte of the body has, which is announced as too large and of a wrong type. */
export async function expectRefusalsBeforeBody<Means>(
  url: string,
  means: Means,
  operations: readonly Operation[],
  { code, attempt }: Column<Means>,
): Promise<void> {
  const answers = operations.map(async (operation) => answerToHead(url, operation, await attempt(means, operation)));
  expect(await Promise.all(answers)).toEqual(
    operations.map((operation) => `${operation.name}: ${statusOf(code)} ${code} ${CHALLENGES[code](operation)}`),
  );
}

export function sendAttempt(url: string, operation: Operation, attempt: Attempt) {
  for (const word of wordsOf(attempt)) if (word.length >= PIECE_CHARACTERS) noteSecrets(word, undefined);
  return answered(() => sendRaw(url, requestOf(operation, attempt), attempt.headers));
}

/** Asks for leave to send the body as well, which must not be given. */
async function answerToHead(url: string, operation: Operation, attempt: Attempt): Promise<string> {
  const { hostname, port } = new URL(url);
  const body = { 'content-type': 'text/plain', 'content-length': ABSENT_BODY_BYTES, expect: '100-continue' };
  const headers: RawHeaders = { host: hostname, ...body, ...attempt.headers };
  const lines = Object.entries(headers).flatMap(([name, value = []]) => [value].flat().map((one) => `${name}: ${one}`));
  const { method, target } = requestOf(operation, attempt);
  const socket = connect(Number(port), hostname);
  socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  try {
    for (let text = ''; ; text += String((await once(socket, 'data', { signal }))[0])) {
      const [, status, challenge, code] =
        /^HTTP\/1\.1 (\d+) .*^www-authenticate: (.*?)\r$.*"error_code":"(\w+)".*\}$/ims.exec(text) ?? [];
      if (status !== undefined) return `${operation.name}: ${status} ${code} ${challenge}`;
    }
  } catch {
    return `${operation.name}: no answer in ${ANSWER_MS_MAX} ms`;
  } finally {
    socket.destroy();
  }
}

const statusOf = (code: RefusalCode): number => (FORBIDDEN_CODES.includes(code) ? 403 : 401);

/** What an attempt shows that no answer may: any piece of its credentials and of what they say when they are decoded. */
function secretsIn(attempt: Attempt): string[] {
  const parts = wordsOf(attempt).flatMap((word) => word.split('.'));
  const decoded = parts.flatMap((part) =>
    [
      ...Buffer.from(part, 'base64url')
        .toString()
        .matchAll(/"([^"]+)"/g),
    ].map(([, text]) => text!),
  );
  const pieces = [...parts, ...decoded].flatMap((text) =>
    Array.from({ length: Math.max(0, text.length - PIECE_CHARACTERS + 1) }, (_, at) =>
      text.slice(at, at + PIECE_CHARACTERS),
    ),
  );
  return [...new Set(pieces)];
}

function wordsOf({ headers, query = '' }: Attempt): string[] {
  return [...Object.values(headers).flat(), query].flatMap((value) => value?.split(/[\s",;:=]+/) ?? []);
}

/** Shorter texts are words such as `content-digest`, which an answer may hold for another reason. */
const PIECE_CHARACTERS = 16;
