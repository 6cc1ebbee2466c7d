import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const REQUEST_ID_HEADER = 'X-Request-Id';
/** The form of a client's own id that is safe in logs and headers. */
const SANE_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

const identified = Symbol('requestId');

interface Identified extends IncomingMessage {
  [identified]?: string | undefined;
}

/** Sets `X-Request-Id` of the answer: the client's own id if it is well formed, else a new one. */
export function identifyRequest(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  response.setHeader(REQUEST_ID_HEADER, requestIdOf(request));
  next();
}

/** The id of this request in its answer, in problem documents and in logs. */
export function requestIdOf(request: Identified): string {
  const known = request[identified];
  if (known !== undefined) return known;
  const id = saneId(request.headers['x-request-id']) ?? randomUUID();
  request[identified] = id;
  return id;
}

function saneId(sent: string | string[] | undefined): string | undefined {
  return typeof sent === 'string' && SANE_ID.test(sent) ? sent : undefined;
}
