import type { Span, SpanContext } from '@opentelemetry/api';
import type { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';

const SERVICE_NAME = 'campaign-data-service';
const TRACES_PATH = '/v1/traces';
/** Of the 10 s in which the whole service stops. */
const EXPORT_MS_MAX = 2_000;
/** A commit is linked to every request that it answers. */
const LINKS_MAX = 1_000;

export type SpanLabels = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  readonly name: string;
  readonly kind: 'server' | 'internal' | 'consumer';
  /** The caller's `traceparent`: its trace goes on in this span. */
  readonly traceparent?: string | undefined;
  readonly links?: readonly SpanContext[];
  readonly labels?: SpanLabels;
}

/** Makes spans and sends them to a collector. */
export interface Spans {
  start(start: SpanStart): Span;
  fail(span: Span): void;
  /** Sends what is left, for two seconds at most. */
  close(): Promise<void>;
}

/**
 * Sends spans by OTLP/HTTP, as JSON, to `endpoint`/v1/traces. The libraries are loaded here and nowhere else, when it is called.
 * They read the standard `OTEL_…` variables themselves, so that sampler, headers and resource are set as everywhere.
 */
export async function openOtlpSpans(endpoint: string): Promise<Spans> {
  const api = await import('@opentelemetry/api');
  const { W3CTraceContextPropagator } = await import('@opentelemetry/core');
  const provider = await openProvider(endpoint);
  const tracer = provider.getTracer(SERVICE_NAME);
  const propagator = new W3CTraceContextPropagator();
  const kinds = {
    server: api.SpanKind.SERVER,
    internal: api.SpanKind.INTERNAL,
    consumer: api.SpanKind.CONSUMER,
  } as const;
  const contextOf = (traceparent: string | undefined) =>
    traceparent === undefined
      ? api.ROOT_CONTEXT
      : propagator.extract(api.ROOT_CONTEXT, { traceparent }, api.defaultTextMapGetter);
  return {
    start: ({ name, kind, traceparent, links = [], labels = {} }) =>
      tracer.startSpan(
        name,
        { kind: kinds[kind], links: links.map((context) => ({ context })), attributes: labels },
        contextOf(traceparent),
      ),
    fail: (span) => void span.setStatus({ code: api.SpanStatusCode.ERROR }),
    close: () => provider.shutdown(),
  };
}

async function openProvider(endpoint: string): Promise<BasicTracerProvider> {
  const { BasicTracerProvider, BatchSpanProcessor } = await import('@opentelemetry/sdk-trace-base');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } =
    await import('@opentelemetry/resources');
  const exporter = new OTLPTraceExporter({
    url: endpoint.replace(/(?<!\/)\/+$/, '') + TRACES_PATH,
    timeoutMillis: EXPORT_MS_MAX,
  });
  return new BasicTracerProvider({
    // The later one wins: an operator's OTEL_SERVICE_NAME.
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': SERVICE_NAME }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanLimits: { linkCountLimit: LINKS_MAX },
    spanProcessors: [new BatchSpanProcessor(exporter, { exportTimeoutMillis: EXPORT_MS_MAX })],
  });
}
