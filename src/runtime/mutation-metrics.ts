import { Catch, Injectable, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { AuthenticatedRequest } from '../platform/auth/caller.decorator';
import { ClientGone } from '../platform/errors/client-gone';
import type { ErrorCode } from '../platform/errors/error-codes';
import { ProblemDetailsFilter } from '../platform/http/problem-details.filter';
import { Metrics } from '../platform/observability/metrics';
import type { MutationStatus } from './domain/mutation-work';

/** Counts answered mutations, each once. Requests without a valid credential are not counted. */
@Injectable()
export class MutationMetrics {
  private readonly outcomes;
  private readonly refusals;

  constructor(metrics: Metrics) {
    this.outcomes = metrics.counter({
      name: 'cds_mutations_total',
      help: 'Answered mutations by outcome: applied, duplicate or refused',
      labels: ['outcome'],
    });
    this.refusals = metrics.counter({
      name: 'cds_mutations_refused_total',
      help: 'Refused mutations by error code',
      labels: ['code'],
    });
    for (const outcome of ['applied', 'duplicate', 'refused']) this.outcomes.inc({ outcome }, 0);
  }

  succeeded(status: MutationStatus): void {
    this.outcomes.inc({ outcome: status });
  }

  refused(code: ErrorCode): void {
    this.outcomes.inc({ outcome: 'refused' });
    this.refusals.inc({ code });
  }
}

/** Counts refused mutations of authenticated callers, whichever step of the request refuses them. */
@Catch()
export class RefusedMutationFilter implements ExceptionFilter {
  constructor(
    private readonly problems: ProblemDetailsFilter,
    private readonly metrics: MutationMetrics,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const { caller, participant } = host.switchToHttp().getRequest<AuthenticatedRequest>();
    const isAuthenticated = caller !== undefined || participant !== undefined;
    if (isAuthenticated && !(error instanceof ClientGone)) this.metrics.refused(this.problems.refusalOf(error).code);
    this.problems.catch(error, host);
  }
}
