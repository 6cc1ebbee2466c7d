import { gunzipSync } from 'node:zlib';
import { startHttpStub, type HttpStub } from './http-stub';

/** A span as it was sent. */
export interface SentSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  /** 2: failed. */
  readonly status: number | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly service: unknown;
}

/** Takes traces by OTLP/HTTP, as JSON. */
export interface TraceCollector {
  readonly endpoint: string;
  readonly spans: readonly SentSpan[];
  readonly stub: HttpStub;
}

export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: SentSpan[] = [];
  const stub = await startHttpStub((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const sent = Buffer.concat(chunks);
      const body = JSON.parse(String(request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent));
      if (request.url === '/v1/traces') spans.push(...body.resourceSpans.flatMap(spansOf));
      response.setHeader('content-type', 'application/json');
      response.end('{}');
    });
  });
  return { endpoint: `http://127.0.0.1:${stub.port}`, spans, stub };
}

function spansOf({ resource, scopeSpans }: any): SentSpan[] {
  const service = attributesOf(resource.attributes)['service.name'];
  return scopeSpans.flatMap((scope: any) =>
    scope.spans.map(({ name, traceId, spanId, parentSpanId, kind, status, attributes, links = [] }: any): SentSpan => ({
      name,
      traceId,
      spanId,
      parentSpanId,
      kind,
      service,
      links,
      status: status?.code,
      attributes: attributesOf(attributes),
    })),
  );
}

function attributesOf(attributes: any[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
