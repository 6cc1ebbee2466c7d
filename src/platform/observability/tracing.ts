import { AsyncLocalStorage } from 'node:async_hooks';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Span, SpanContext } from '@opentelemetry/api';
import { LRUCache } from 'lru-cache';
import { SETTINGS_TOKEN, type Settings } from '../config/settings';
import { openOtlpSpans, type SpanLabels, type Spans } from './otlp-spans';
import { settledWithin } from './settled-within';

/** Two or three seconds of a busy process: events are mostly processed sooner, or by another process. */
const REMEMBERED_EVENTS_MAX = 20_000;
const CLOSE_MS_MAX = 2_500;

/** A request that is followed. */
export interface RequestTrace {
  readonly span: Span;
}

/**
 * Traces (OpenTelemetry), when `OTEL_EXPORTER_OTLP_ENDPOINT` is set; else nothing is loaded and nothing is done. A request is
 * a span; the commit that stored it is a span of its own, because it is shared, and links to the requests it answers; what was
 * made of an event afterwards links to the commit that stored it, as long as the same process remembers that.
 */
@Injectable()
export class Tracing implements OnModuleInit, OnApplicationShutdown {
  private readonly storage = new AsyncLocalStorage<Span>();
  /** By size, each of them 1: `max` would set all the room aside at every start. */
  private readonly commits = new LRUCache<string, SpanContext>({
    maxSize: REMEMBERED_EVENTS_MAX,
    sizeCalculation: () => 1,
  });
  private spans: Spans | undefined;

  constructor(@Inject(SETTINGS_TOKEN) private readonly settings: Settings) {}

  async onModuleInit(): Promise<void> {
    const { otlpEndpoint } = this.settings;
    if (otlpEndpoint !== undefined) this.spans = await openOtlpSpans(otlpEndpoint);
  }

  async onApplicationShutdown(): Promise<void> {
    const { spans } = this;
    this.spans = undefined;
    if (spans !== undefined) await settledWithin(CLOSE_MS_MAX, () => spans.close());
  }

  /** Begins the span of a request; undefined when there are no traces. */
  request(method: string, traceparent: string | undefined): RequestTrace | undefined {
    if (this.spans === undefined) return undefined;
    return {
      span: this.spans.start({ name: method, kind: 'server', traceparent, labels: { 'http.request.method': method } }),
    };
  }

  /** Runs the request's work as a part of its span. */
  within(trace: RequestTrace | undefined, work: () => void): void {
    if (trace === undefined) work();
    else this.storage.run(trace.span, work);
  }

  /** `failed`: by a mistake or an absence on our side. */
  endRequest({ span }: RequestTrace, name: string, labels: SpanLabels, failed: boolean): void {
    span.updateName(name);
    span.setAttributes(labels);
    if (failed) this.spans?.fail(span);
    span.end();
  }

  /** The span that the caller is a part of, to be linked to. */
  current(): SpanContext | undefined {
    return this.spans === undefined ? undefined : this.storage.getStore()?.spanContext();
  }

  /** Runs the commit of a batch in a span of its own; `marks` are what `current` gave for each piece of it. */
  commit<T>(name: string, marks: readonly unknown[], run: () => Promise<T>): Promise<T> {
    if (this.spans === undefined) return run();
    const links = distinct(marks.filter(isSpanContext));
    // Nobody asked for a trace of any of these.
    if (links.length === 0) return run();
    return this.spanning(this.spans, `commit ${name}`, 'internal', links, { 'cds.batch.size': marks.length }, run);
  }

  /** Keeps the commit that the caller is a part of as the one that stored these events. */
  stored(events: readonly { readonly eventId: string }[]): void {
    const context = this.current();
    if (context === undefined) return;
    for (const { eventId } of events) this.commits.set(eventId, context);
  }

  /**
   * Runs the processing of stored events in a span of its own, linked to the commits that stored them as far as this process
   * did that, and lately; without such a commit there is no span. For whoever works off the queue.
   */
  process<T>(name: string, eventIds: readonly string[], run: () => Promise<T>): Promise<T> {
    if (this.spans === undefined) return run();
    const links = distinct(eventIds.flatMap((eventId) => this.commits.get(eventId) ?? []));
    if (links.length === 0) return run();
    return this.spanning(this.spans, name, 'consumer', links, { 'cds.events': eventIds.length }, run);
  }

  private async spanning<T>(
    spans: Spans,
    name: string,
    kind: 'internal' | 'consumer',
    links: readonly SpanContext[],
    labels: SpanLabels,
    run: () => Promise<T>,
  ): Promise<T> {
    const span = spans.start({ name, kind, links, labels });
    try {
      return await this.storage.run(span, run);
    } catch (error) {
      spans.fail(span);
      throw error;
    } finally {
      span.end();
    }
  }
}

/** Only what is recorded: the others were sampled out. */
function isSpanContext(mark: unknown): mark is SpanContext {
  return typeof mark === 'object' && mark !== null && 'traceFlags' in mark && mark.traceFlags === 1;
}

/** The pieces of one batch request have one span. */
function distinct(contexts: readonly SpanContext[]): SpanContext[] {
  return [...new Map(contexts.map((context) => [context.spanId, context])).values()];
}
