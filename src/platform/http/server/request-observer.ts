import { Injectable } from '@nestjs/common';
import type { NextFunction, Response } from 'express';
import type { AuthenticatedRequest } from '../../auth/caller.decorator';
import { requestIdOf } from '../request-id';
import type { RequestLine } from '../../observability/logger';
import { Metrics } from '../../observability/metrics';
import { Tracing, type RequestTrace } from '../../observability/tracing';

/** The label of requests without a route. Clients choose their paths, which are neither counted nor logged. */
const NO_ROUTE = 'none';
/** Probes call these every few seconds. They are logged at level debug and not traced. */
const PROBED_ROUTES: ReadonlySet<string> = new Set(['/health/live', '/health/ready', '/metrics']);
const TRACED_HEADER = 'traceparent';

/** The log for requests. */
interface RequestLog {
  request(level: 'debug' | 'info' | 'error', line: RequestLine): void;
}

/** Measures every request, logs it and ends its span, when its answer is sent or its client has left. */
@Injectable()
export class RequestObserver {
  private readonly durations;

  constructor(
    metrics: Metrics,
    private readonly tracing: Tracing,
  ) {
    this.durations = metrics.histogram({
      name: 'cds_http_request_duration_seconds',
      help: 'Time from the head of a request to the end of its answer; status "gone": the client has left',
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
    // Clients choose the method of a request without a route too.
    this.durations.observe({ route, method: route === NO_ROUTE ? 'any' : method, status }, ms / 1_000);
    const failed = statusCode >= 500;
    log.request(PROBED_ROUTES.has(route) ? 'debug' : failed ? 'error' : 'info', {
      requestId: requestIdOf(request),
      workspace: request.caller?.tenantId ?? request.participant?.tenantId,
      method,
      route,
      status: statusCode,
      gone: gone || undefined,
      ms: Math.round(ms * 100) / 100,
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

function routeOf(request: AuthenticatedRequest): string {
  // Express exposes it without a type.
  const path: unknown = (request.route as { path?: unknown } | undefined)?.path;
  return typeof path === 'string' ? `${request.mountPath ?? ''}${routeName(path)}` : NO_ROUTE;
}

const names = new Map<string, string>();

/**
 * A path of Express's router in the form of the OpenAPI document, such as `/v1/things/{id}:rename`. Results are cached; there
 * is one per route.
 */
export function routeName(path: string): string {
  const known = names.get(path);
  if (known !== undefined) return known;
  const name = path.replaceAll(/(?<!\\):(\w+)/g, '{$1}').replaceAll('\\', '');
  names.set(path, name);
  return name;
}
