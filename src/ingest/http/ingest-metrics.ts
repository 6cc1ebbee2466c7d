import { Injectable } from '@nestjs/common';
import type { ErrorCode } from '../../platform/errors/error-codes';
import { Metrics } from '../../platform/observability/metrics';
import type { IngestResult } from '../domain/ingest-result';
import { EVENT_FAMILIES, type EventFamily } from '../domain/submission';

const OUTCOMES = ['accepted', 'duplicate', 'rejected'] as const;

/**
 * Counts events when they are answered, each once: received is always accepted + duplicate + rejected. Dry runs are not counted, nor is what came without a good credential.
 */
@Injectable()
export class IngestMetrics {
  private readonly received;
  private readonly outcomes;
  private readonly rejections;
  private readonly batches = new WeakMap<object, number>();

  constructor(metrics: Metrics) {
    this.received = metrics.counter({
      name: 'cds_events_received_total',
      help: 'Events that were answered: accepted, duplicate or rejected',
      labels: ['family'],
    });
    this.outcomes = metrics.counter({
      name: 'cds_events_total',
      help: 'Events by their result',
      labels: ['family', 'outcome'],
    });
    this.rejections = metrics.counter({
      name: 'cds_events_rejected_total',
      help: 'Rejected events by the error code of the answer',
      labels: ['family', 'code'],
    });
    // A rate needs a first sample at zero.
    for (const family of EVENT_FAMILIES) for (const outcome of OUTCOMES) this.count(family, outcome, 0);
  }

  /** Counts events that were answered one by one. */
  settled(family: EventFamily, results: readonly IngestResult[]): void {
    const counts = { accepted: 0, duplicate: 0 };
    for (const result of results) {
      if (result.status === 'error') this.reject(family, result.refusal.code, 1);
      else counts[result.status] += 1;
    }
    if (counts.accepted > 0) this.count(family, 'accepted', counts.accepted);
    if (counts.duplicate > 0) this.count(family, 'duplicate', counts.duplicate);
  }

  /** Notes that a request has so many events, in case it is refused as a whole after all. */
  batch(request: object, events: number): void {
    this.batches.set(request, events);
  }

  /** Counts the events of a request that is refused as a whole; one, where their number is not known. */
  refused(family: EventFamily, code: ErrorCode, request: object): void {
    this.reject(family, code, this.batches.get(request) ?? 1);
  }

  private reject(family: EventFamily, code: ErrorCode, events: number): void {
    this.count(family, 'rejected', events);
    this.rejections.inc({ family, code }, events);
  }

  private count(family: EventFamily, outcome: (typeof OUTCOMES)[number], events: number): void {
    this.received.inc({ family }, events);
    this.outcomes.inc({ family, outcome }, events);
  }
}
