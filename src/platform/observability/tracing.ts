import { AsyncLocalStorage } from 'node:async_hooks';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Span, SpanContext } from '@opentelemetry/api';
import { LRUCache } from 'lru-cache';
import { SETTINGS_TOKEN, type Settings } from '../config/settings';
import { openOtlpSpans, type SpanLabels, type Spans } from './otlp-spans';
import { settledWithin } from './settled-within';

/** Two or three seconds of a busy process. Events are mostly processed sooner, or by another process. */
const REMEMBERED_EVENTS_MAX = 20_000;
const CLOSE_MS_MAX = 2_500;

/** A request that is followed. */
export interface RequestTrace {
  readonly span: Span;
}

/**
 * Traces (OpenTelemetry) when `OTEL_EXPORTER_OTLP_ENDPOINT` is set; otherwise the library is not loaded. A request is a span.
 * A group commit is a separate span with links to its requests. The processing of an event links to the commit that stored it
 * while this process still has that in memory.
 */
@Injectable()
export class Tracing implements OnModuleInit, OnApplicationShutdown {
  private readonly storage = new AsyncLocalStorage<Span>();
  /** Each entry has size 1. With `max` the cache would allocate all its memory at the start. */
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

  /** Starts the span of a request. Undefined when tracing is off. */
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

  /** `failed`: the service is the cause (status 5xx). */
  endRequest({ span }: RequestTrace, name: string, labels: SpanLabels, failed: boolean): void {
    span.updateName(name);
    span.setAttributes(labels);
    if (failed) this.spans?.fail(span);
    span.end();
  }

  /** The context of the current span, for links. */
  current(): SpanContext | undefined {
    return this.spans === undefined ? undefined : this.storage.getStore()?.spanContext();
  }

  /** Runs a group commit in its own span. `marks`: the result of `current` for each piece of work. */
  commit<T>(name: string, marks: readonly unknown[], run: () => Promise<T>): Promise<T> {
    if (this.spans === undefined) return run();
    const links = distinct(marks.filter(isSpanContext));
    // None of the requests is traced.
    if (links.length === 0) return run();
    return this.spanning(this.spans, `commit ${name}`, 'internal', links, { 'cds.batch.size': marks.length }, run);
  }

  /** Records that the current commit has stored these events. */
  stored(events: readonly { readonly eventId: string }[]): void {
    const context = this.current();
    if (context === undefined) return;
    for (const { eventId } of events) this.commits.set(eventId, context);
  }

  /**
   * Runs the processing of stored events in its own span, linked to the commits that stored them. Without a recent commit of
   * this process there is no span.
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

/** Only sampled spans. */
function isSpanContext(mark: unknown): mark is SpanContext {
  return typeof mark === 'object' && mark !== null && 'traceFlags' in mark && mark.traceFlags === 1;
}

/** The pieces of one batch request have one span. */
function distinct(contexts: readonly SpanContext[]): SpanContext[] {
  return [...new Map(contexts.map((context) => [context.spanId, context])).values()];
}
