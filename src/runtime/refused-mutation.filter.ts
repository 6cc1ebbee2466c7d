import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { AuthenticatedRequest } from '../platform/auth/caller.decorator';
import { ProblemDetailsFilter } from '../platform/errors/problem-details.filter';
import { ClientGone } from '../platform/http/client-gone';
import { MutationFigures } from './mutation-figures';

/** Counts the mutations of known participants that are refused, wherever on their way that is. */
@Catch()
export class RefusedMutationFilter implements ExceptionFilter {
  constructor(
    private readonly problems: ProblemDetailsFilter,
    private readonly figures: MutationFigures,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const { participant } = host.switchToHttp().getRequest<AuthenticatedRequest>();
    const isRefused = participant !== undefined && !(error instanceof ClientGone);
    if (isRefused) this.figures.refused(this.problems.refusalOf(error).code);
    this.problems.catch(error, host);
  }
}
