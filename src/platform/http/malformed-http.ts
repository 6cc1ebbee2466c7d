import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { ErrorCode } from '../errors/error-codes';
import { PROBLEM_MEDIA_TYPE, type ProblemDetails, problemType } from '../errors/problem-details';

interface Refusal {
  readonly status: number;
  /** The nearest of the documented codes: a client that cannot speak HTTP reads `detail`, not codes. */
  readonly code: ErrorCode;
  readonly words: string;
}

const NOT_HTTP: Refusal = { status: 400, code: 'malformed_json', words: 'The request is not valid HTTP/1.1.' };
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'payload_too_large', words: 'The request headers are larger than 16 KiB.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    code: 'payload_too_large',
    words: 'The chunk extensions are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'unavailable', words: 'The request did not arrive in time.' },
};

/**
 * The whole answer, from the status line on, to bytes that never became a request: `errorCode` is that of Node's HTTP parser.
 * No router, filter or middleware has seen these bytes, so the problem document is made here.
 */
export function answerToMalformedHttp(errorCode: string | undefined): string {
  const { status, code, words } = REFUSALS[errorCode ?? ''] ?? NOT_HTTP;
  const reason = STATUS_CODES[status] ?? '';
  const requestId = randomUUID();
  const problem: ProblemDetails = {
    type: problemType(code),
    title: reason,
    status,
    detail: words,
    error_code: code,
    message: words,
    details: [],
    request_id: requestId,
  };
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    `Content-Type: ${PROBLEM_MEDIA_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
