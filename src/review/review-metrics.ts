import { Injectable } from '@nestjs/common';
import { Metrics } from '../platform/observability/metrics';
import type { Problem } from './domain/review-entry';

/** More reasons than there are codes; a mistake that made reasons of anything else must not grow the list without end. */
const REASONS_MAX = 200;
const OTHER = 'other';

/** Counts what the review area is told, by reason, once it is kept. */
@Injectable()
export class ReviewMetrics {
  private readonly kept;
  private readonly reasons = new Set<string>();

  constructor(metrics: Metrics) {
    this.kept = metrics.counter({
      name: 'cds_review_problems_total',
      help: 'Problems that the review area has kept; several of one event and reason are one entry',
      labels: ['severity', 'reason'],
    });
  }

  count({ severity, reason }: Pick<Problem, 'severity' | 'reason'>): void {
    if (this.reasons.size < REASONS_MAX) this.reasons.add(reason);
    this.kept.inc({ severity, reason: this.reasons.has(reason) ? reason : OTHER });
  }
}
