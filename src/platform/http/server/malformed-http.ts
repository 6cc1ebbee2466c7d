import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode } from '../../errors/error-codes';
import { PROBLEM_MEDIA_TYPE, type ProblemDetails, problemType } from '../../errors/problem-details';

/** Time for a client to read the answer to malformed HTTP. */
const LINGER_MS = 2_000;

interface Refusal {
  readonly status: number;
  /** The nearest of the documented codes: a client that cannot speak HTTP reads `detail`, not codes. */
  readonly code: ErrorCode;
  readonly words: string;
}

/** Faults of a head that Node's parser takes. */
type HeadFault = 'NOT_HTTP' | 'TRANSFER_CODING';

const HEAD_REFUSALS: Readonly<Record<HeadFault, Refusal>> = {
  NOT_HTTP: { status: 400, code: 'malformed_json', words: 'The request is not valid HTTP/1.1.' },
  TRANSFER_CODING: {
    status: 501,
    code: 'unsupported_media_type',
    words: 'Transfer-Encoding must be chunked and nothing else. Compress a body with Content-Encoding: gzip.',
  },
};

/** By the codes of Node's server; all others are `NOT_HTTP`. */
const PARSER_REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'payload_too_large', words: 'The request headers are larger than 16 KiB.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    code: 'payload_too_large',
    words: 'The chunk extensions are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'unavailable', words: 'The request did not arrive in time.' },
};

/** What Node's parser lets pass, although RFC 9112 forbids it; undefined for a head that is right. */
export function headFault(request: IncomingMessage): HeadFault | undefined {
  if (!hasOneHost(request) || !hasTarget(request)) return 'NOT_HTTP';
  const coding = request.headers['transfer-encoding']?.toLowerCase();
  return coding === undefined || coding === 'chunked' ? undefined : 'TRANSFER_CODING';
}

const NO_PART_OF_A_HOST = /[\s"#/<>?@\\^`{|}]/;

/** `headers` has the first of two hosts. A proxy may have taken the second, and checked another request than is served here. */
function hasOneHost({ headers, rawHeaders, httpVersion }: IncomingMessage): boolean {
  if (headers.host === undefined) return httpVersion !== '1.1';
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 && !NO_PART_OF_A_HOST.test(headers.host);
}

/** Addresses of other schemes may have no path. */
const HTTP_ADDRESS = /^https?:\/\//i;

/** Whether the target is a path, as nearly always, or an address. Express answers others with a page of its own. */
function hasTarget({ url = '' }: IncomingMessage): boolean {
  return url.startsWith('/') || url === '*' || (HTTP_ADDRESS.test(url) && URL.canParse(url));
}

/** Answers a request whose head has a fault, before any middleware has seen it. */
export function refuseHead(response: ServerResponse, fault: HeadFault): void {
  const { status, headers, body } = answerTo(HEAD_REFUSALS[fault]);
  response.writeHead(status, headers).end(body);
}

/** The answer under way on a connection; Node keeps it there and looks at it for this same reason. */
type HttpSocket = Socket & { readonly _httpMessage?: ServerResponse };

/** Answers what Node's server could not read as a request: a listener of `clientError`. */
export function refuseUnparsed(error: NodeJS.ErrnoException, socket: HttpSocket): void {
  const answer = socket._httpMessage;
  // Bytes of a second answer would be taken for a part of the first.
  if (!socket.writable || answer?.headersSent === true || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  if (answer?.req.complete === true) {
    // The fault is behind this request, which is being handled: its client must not hear that it was refused.
    answer.shouldKeepAlive = false;
    socket.pause();
    return;
  }
  socket.end(httpTextOf(answerTo(PARSER_REFUSALS[error.code ?? ''] ?? HEAD_REFUSALS.NOT_HTTP)));
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function answerTo({ status, code, words }: Refusal): Answer {
  const problem: ProblemDetails = {
    type: problemType(code),
    title: STATUS_CODES[status] ?? '',
    status,
    detail: words,
    error_code: code,
    message: words,
    details: [],
    request_id: randomUUID(),
  };
  const body = `${JSON.stringify(problem)}\n`;
  const headers = {
    'Content-Type': PROBLEM_MEDIA_TYPE,
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': problem.request_id,
    'Cache-Control': 'no-store',
    Connection: 'close',
  };
  return { status, headers, body };
}

/** With its status line and headers, for a connection without a parsed request. */
function httpTextOf({ status, headers, body }: Answer): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', body].join('\r\n');
}
