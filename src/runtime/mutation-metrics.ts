import { Injectable } from '@nestjs/common';
import type { ErrorCode } from '../platform/errors/error-codes';
import { Metrics } from '../platform/observability/metrics';
import type { MutationStatus } from './domain/mutation-result';

/** Counts mutations where their senders are told what became of them, each once; not what came without a good token. */
@Injectable()
export class MutationMetrics {
  private readonly outcomes;
  private readonly refusals;

  constructor(metrics: Metrics) {
    this.outcomes = metrics.counter({
      name: 'cds_mutations_total',
      help: 'Mutations by what their senders were told: applied, duplicate or refused',
      labels: ['outcome'],
    });
    this.refusals = metrics.counter({
      name: 'cds_mutations_refused_total',
      help: 'Refused mutations by the error code that their senders were told',
      labels: ['code'],
    });
    for (const outcome of ['applied', 'duplicate', 'refused']) this.outcomes.inc({ outcome }, 0);
  }

  settled(status: MutationStatus): void {
    this.outcomes.inc({ outcome: status });
  }

  refused(code: ErrorCode): void {
    this.outcomes.inc({ outcome: 'refused' });
    this.refusals.inc({ code });
  }
}
