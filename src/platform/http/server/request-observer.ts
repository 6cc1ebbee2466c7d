import { Injectable } from '@nestjs/common';
import type { NextFunction, Response } from 'express';
import type { AuthenticatedRequest } from '../../auth/caller.decorator';
import { requestIdOf } from '../request-id';
import type { RequestLine } from '../../observability/logger';
import { Metrics } from '../../observability/metrics';
import { Tracing, type RequestTrace } from '../../observability/tracing';

/** Of what no route answered; its path is the client's choice and is neither counted nor written down. */
const NO_ROUTE = 'none';
/** Asked for every few seconds by machines; their lines and traces would bury the others. */
const PROBED_ROUTES: ReadonlySet<string> = new Set(['/health/live', '/health/ready', '/metrics']);
const TRACED_HEADER = 'traceparent';

/** Where the line of a request goes. */
interface RequestLog {
  request(level: 'debug' | 'info' | 'error', line: RequestLine): void;
}

/** Measures every request, writes its line and ends its span, once its answer is out or its client is gone. */
@Injectable()
export class RequestObserver {
  private readonly durations;

  constructor(
    metrics: Metrics,
    private readonly tracing: Tracing,
  ) {
    this.durations = metrics.histogram({
      name: 'cds_http_request_duration_seconds',
      help: 'Time from the head of a request to the end of its answer; status "gone": the client did not wait',
      labels: ['route', 'method', 'status'],
    });
  }

  /** The middleware before all others. */
  middleware(log: RequestLog): (request: AuthenticatedRequest, response: Response, next: NextFunction) => void {
    return (request, response, next) => {
      const startedAt = performance.now();
      const parent = request.headers[TRACED_HEADER];
      const trace = PROBED_ROUTES.has(pathOf(request.url))
        ? undefined
        : this.tracing.request(request.method, typeof parent === 'string' ? parent : undefined);
      response.once('close', () => this.end(log, request, response, performance.now() - startedAt, trace));
      this.tracing.within(trace, next);
    };
  }

  private end(
    log: RequestLog,
    request: AuthenticatedRequest,
    response: Response,
    ms: number,
    trace: RequestTrace | undefined,
  ): void {
    const { statusCode } = response;
    const { method } = request;
    const gone = !response.writableFinished;
    const route = routeOf(request);
    const status = gone ? 'gone' : `${Math.floor(statusCode / 100)}xx`;
    // A method that no route has is the client's choice too.
    this.durations.observe({ route, method: route === NO_ROUTE ? 'any' : method, status }, ms / 1_000);
    const failed = statusCode >= 500;
    log.request(PROBED_ROUTES.has(route) ? 'debug' : failed ? 'error' : 'info', {
      requestId: requestIdOf(request),
      workspace: request.caller?.tenantId ?? request.participant?.tenantId,
      ...{ method, route, status: statusCode, gone: gone || undefined, ms: Math.round(ms * 100) / 100 },
    });
    if (trace === undefined) return;
    const labels = {
      'http.route': route,
      'http.response.status_code': statusCode,
      'cds.request_id': requestIdOf(request),
    };
    this.tracing.endRequest(trace, `${method} ${route}`, labels, failed);
  }
}

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

function routeOf({ route }: AuthenticatedRequest): string {
  // Express knows it without a type.
  const path: unknown = (route as { path?: unknown } | undefined)?.path;
  return typeof path === 'string' ? routeName(path) : NO_ROUTE;
}

const names = new Map<string, string>();

/**
 * A route of Express's router as the OpenAPI document writes it: `/v1/campaigns/{campaign_id}/variables:define`. There are as
 * many as there are routes, so each is worked out once.
 */
export function routeName(path: string): string {
  const known = names.get(path);
  if (known !== undefined) return known;
  const name = path.replaceAll(/(?<!\\):(\w+)/g, '{$1}').replaceAll('\\', '');
  names.set(path, name);
  return name;
}
