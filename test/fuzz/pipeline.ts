import { connect, type Socket } from 'node:net';
import type { FuzzRequest } from './requests';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const ANSWER_MS_MAX = 30_000;

/**
 * Sends requests one behind the other on one connection without waiting, and gives the answers in their order. The service
 * closes a connection on which it can no longer tell where a request ends; what is unanswered then is left out.
 */
export function pipelined(port: number, requests: readonly FuzzRequest[]): Promise<RawAnswer[]> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const answers: RawAnswer[] = [];
    let unread: Buffer = Buffer.alloc(0);
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`No answer to ${requests[answers.length]?.method} ${requests[answers.length]?.target}`));
    }, ANSWER_MS_MAX);
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answers);
    };
    socket.on('data', (bytes: Buffer) => {
      unread = unread.length === 0 ? bytes : Buffer.concat([unread, bytes]);
      for (;;) {
        const found = answerIn(unread, requests[answers.length]?.method ?? 'GET');
        if (found === undefined) return;
        answers.push(found.answer);
        unread = unread.subarray(found.length);
        if (answers.length === requests.length || found.answer.headers['connection'] === 'close') {
          end();
          return;
        }
      }
    });
    socket.on('error', () => undefined).on('close', end);
    socket.on('connect', () => send(socket, requests));
  });
}

function send(socket: Socket, requests: readonly FuzzRequest[]): void {
  socket.cork();
  for (const { method, target, headers, body } of requests) {
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const length = body.length > 0 || method === 'POST' ? `Content-Length: ${body.length}\r\n` : '';
    socket.write(`${method} ${target} HTTP/1.1\r\nHost: fuzz\r\n${lines}${length}\r\n`);
    if (body.length > 0) socket.write(body);
  }
  socket.uncork();
}

/** The first whole answer in the bytes, and how many of them it takes. */
function answerIn(bytes: Buffer, method: string): { answer: RawAnswer; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1] ?? Number.NaN);
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const from = headEnd + 4;
  const whole = (body: string, length: number) => ({ answer: { status, headers, body }, length: from + length });
  if (method === 'HEAD' || status === 204 || status === 304) return whole('', 0);
  if (headers['transfer-encoding'] === 'chunked') {
    const read = chunksIn(bytes.subarray(from));
    return read === undefined ? undefined : whole(read.body, read.length);
  }
  const length = Number(headers['content-length'] ?? 0);
  return bytes.length < from + length ? undefined : whole(bytes.subarray(from, from + length).toString(), length);
}

function chunksIn(bytes: Buffer): { body: string; length: number } | undefined {
  let at = 0;
  const parts: Buffer[] = [];
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    const end = lineEnd + 2 + size + 2;
    if (bytes.length < end) return undefined;
    if (size === 0) return { body: Buffer.concat(parts).toString(), length: end };
    parts.push(bytes.subarray(lineEnd + 2, end - 2));
    at = end;
  }
}
