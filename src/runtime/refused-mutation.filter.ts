import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { AuthenticatedRequest } from '../platform/auth/caller.decorator';
import { ProblemDetailsFilter } from '../platform/http/problem-details.filter';
import { ClientGone } from '../platform/errors/client-gone';
import { MutationMetrics } from './mutation-metrics';

/** Counts the mutations of known participants and backends that are refused, wherever on their way that is. */
@Catch()
export class RefusedMutationFilter implements ExceptionFilter {
  constructor(
    private readonly problems: ProblemDetailsFilter,
    private readonly figures: MutationMetrics,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const { caller, participant } = host.switchToHttp().getRequest<AuthenticatedRequest>();
    const isKnown = caller !== undefined || participant !== undefined;
    const isRefused = isKnown && !(error instanceof ClientGone);
    if (isRefused) this.figures.refused(this.problems.refusalOf(error).code);
    this.problems.catch(error, host);
  }
}
