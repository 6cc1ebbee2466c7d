import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { ServiceRequest } from './service-request';

const REQUEST_ID_HEADER = 'X-Request-Id';
/** The form of a client's own id that is safe in logs and headers. */
const SANE_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** Sets `X-Request-Id` of the answer: the client's own id if it is well formed, else a new one. */
export function identifyRequest(request: ServiceRequest, response: ServerResponse, next: () => void): void {
  response.setHeader(REQUEST_ID_HEADER, requestIdOf(request));
  next();
}

/** The id of this request in its answer, in problem documents and in logs. */
export function requestIdOf(request: ServiceRequest): string {
  return (request.requestId ??= saneId(request.headers['x-request-id']) ?? randomUUID());
}

function saneId(sent: string | string[] | undefined): string | undefined {
  return typeof sent === 'string' && SANE_ID.test(sent) ? sent : undefined;
}
