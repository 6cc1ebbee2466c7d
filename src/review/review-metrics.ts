import { Injectable } from '@nestjs/common';
import { Metrics } from '../platform/observability/metrics';
import type { Problem } from './domain/review-entry';

/** More than there are codes. Protects the metrics if a bug makes reasons of other texts. */
const REASONS_MAX = 200;
const OTHER_REASON = 'other';

/** Counts recorded problems by severity and reason. */
@Injectable()
export class ReviewMetrics {
  private readonly problems;
  private readonly reasons = new Set<string>();

  constructor(metrics: Metrics) {
    this.problems = metrics.counter({
      name: 'cds_review_problems_total',
      help: 'Problems recorded in the review area, by severity and reason; one entry may count several',
      labels: ['severity', 'reason'],
    });
  }

  count({ severity, reason }: Pick<Problem, 'severity' | 'reason'>): void {
    if (this.reasons.size < REASONS_MAX) this.reasons.add(reason);
    this.problems.inc({ severity, reason: this.reasons.has(reason) ? reason : OTHER_REASON });
  }
}
