import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { ErrorCode } from '../../errors/error-codes';
import { PROBLEM_MEDIA_TYPE, type ProblemDetails, problemType } from '../../errors/problem-details';

interface Refusal {
  readonly status: number;
  /** The nearest of the documented codes: a client that cannot speak HTTP reads `detail`, not codes. */
  readonly code: ErrorCode;
  readonly words: string;
}

const NOT_HTTP: Refusal = { status: 400, code: 'malformed_json', words: 'The request is not valid HTTP/1.1.' };
/** Faults of a head that Node's parser takes. */
export type HeadFault = 'NOT_HTTP' | 'TRANSFER_CODING';

const REFUSALS: Readonly<Record<string, Refusal>> = {
  TRANSFER_CODING: {
    status: 501,
    code: 'unsupported_media_type',
    words: 'Transfer-Encoding must be chunked and nothing else. Compress a body with Content-Encoding: gzip.',
  },
  HPE_HEADER_OVERFLOW: { status: 431, code: 'payload_too_large', words: 'The request headers are larger than 16 KiB.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    code: 'payload_too_large',
    words: 'The chunk extensions are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'unavailable', words: 'The request did not arrive in time.' },
};

/** The answer to malformed HTTP, which no router, filter or middleware has seen. */
export interface MalformedHttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `errorCode` is that of Node's HTTP parser, or a `HeadFault`. */
export function answerToMalformedHttp(errorCode?: string): MalformedHttpAnswer {
  const { status, code, words } = REFUSALS[errorCode ?? ''] ?? NOT_HTTP;
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

/** The complete answer with status line and headers, for a connection without a parsed request. */
export function asHttpText({ status, headers, body }: MalformedHttpAnswer): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', body].join('\r\n');
}
