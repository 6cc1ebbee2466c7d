import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { ClientGone } from '../errors/client-gone';
import { ProblemDetailsFilter } from './problem-details.filter';

/** For routes that only read, whatever their method is, as `profiles:lookup`: their refusals speak of no effect. */
@Catch()
export class RefusedReadFilter implements ExceptionFilter {
  constructor(private readonly problems: ProblemDetailsFilter) {}

  catch(error: unknown, host: ArgumentsHost): void {
    this.problems.catch(error instanceof ClientGone ? error : this.problems.refusalOf(error).ofRead(), host);
  }
}
