import { Injectable } from '@nestjs/common';
import type { AuthenticatedRequest } from '../../platform/auth/caller.decorator';
import type { ErrorCode } from '../../platform/errors/error-codes';
import { Metrics } from '../../platform/observability/metrics';
import type { Problem } from '../../review/domain/review-entry';
import { isUnavailable, type IngestResult } from '../domain/ingest-result';
import { refusalProblem } from '../domain/review-problems';
import { EVENT_FAMILIES, type EventFamily, type Submission } from '../domain/submission';
import { submissionNames } from '../domain/field-names';
import { AnsweredEvents, type AnsweredRefusal } from '../answered-events';

const OUTCOMES = ['accepted', 'duplicate', 'rejected'] as const;

/** Where events come from. */
export interface EventOrigin {
  /** Undefined where the credential lacks the scope: its workspace is not passed on. */
  readonly tenantId: string | undefined;
  readonly family: EventFamily;
}

/** A request of the ingest routes. */
export interface IngestRequest extends AuthenticatedRequest {
  /** The events in its body, valid or not, in case it is refused as a whole after all. Absent where they are not known. */
  sentEvents?: readonly unknown[];
}

/**
 * Counts events when they are answered, each once: received is always accepted + duplicate + rejected. Not counted are
 * dry runs, calls of the console, and what came without a good credential. Passes the answers of a known workspace on
 * to `AnsweredEvents`.
 */
@Injectable()
export class IngestMetrics {
  private readonly received;
  private readonly outcomes;
  private readonly rejections;

  constructor(
    metrics: Metrics,
    private readonly answered: AnsweredEvents,
  ) {
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

  /** Counts events that were answered one by one. `submissions`: what was sent, in the order of the results. */
  countResults(origin: EventOrigin, submissions: readonly Submission[], results: readonly IngestResult[]): void {
    const { family, tenantId } = origin;
    const counts = { accepted: 0, duplicate: 0 };
    results.forEach((result, index) => {
      if (result.status === 'error') this.reject(family, result.refusal.code, 1);
      else counts[result.status] += 1;
      if (result.status !== 'accepted') this.notify(origin, submissions[index]?.value, result.status);
    });
    if (counts.accepted > 0) this.count(family, 'accepted', counts.accepted);
    if (counts.duplicate > 0) this.count(family, 'duplicate', counts.duplicate);
    const watcher = this.answered.watcherOf(tenantId);
    if (watcher === undefined || tenantId === undefined) return;
    submissions.forEach((submission, index) => {
      const result = results[index];
      if (result === undefined) return;
      const { value } = submission;
      if (result.status !== 'error' || isUnavailable(result)) watcher({ family, value, result });
      else watcher({ family, value, result, reviewed: () => refusalProblem(tenantId, submission, result.refusal, 0) });
    });
  }

  /**
   * Counts the events of a request that is refused as a whole; one, where their number is not known. `reviewed` is what the
   * review area has recorded of them.
   */
  countRefusedRequest(
    origin: EventOrigin,
    { code, details }: AnsweredRefusal['refusal'],
    { sentEvents: values = [undefined] }: IngestRequest,
    reviewed: () => Problem | undefined,
  ): void {
    const { family, tenantId } = origin;
    this.reject(family, code, values.length);
    for (const value of values) this.notify(origin, value, 'error');
    const watcher = this.answered.watcherOf(tenantId);
    if (watcher === undefined) return;
    const result = { status: 'error', refusal: { code, details } } as const;
    for (const value of values) watcher({ family, value, result, reviewed });
  }

  private notify({ tenantId, family }: EventOrigin, value: unknown, status: 'duplicate' | 'error'): void {
    if (tenantId === undefined) return;
    const { source, eventType } = submissionNames(family, value);
    this.answered.notify({ tenantId, family, source, eventType }, status === 'error' ? 'refused' : status);
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
