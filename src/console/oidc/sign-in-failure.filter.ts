import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ProblemDetailsFilter } from '../../platform/http/problem-details.filter';
import { ConsolePages } from '../console-pages';

/**
 * For addresses that a person's browser opens by itself: a failure is a page of the console with the message, the request id
 * and a way back. Clients that do not ask for HTML get the problem document.
 */
@Catch()
export class SignInFailureFilter implements ExceptionFilter {
  constructor(
    private readonly problems: ProblemDetailsFilter,
    private readonly pages: ConsolePages,
  ) {}

  async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const [request, response] = [http.getRequest<Request>(), http.getResponse<Response>()];
    if (request.accepts('json', 'html') !== 'html') {
      this.problems.catch(error, host);
      return;
    }
    const problem = this.problems.begin(error, request, response);
    if (problem === undefined) return;
    const isSent = await this.pages.sendProblem(problem, request.path, response).catch(() => false);
    if (!isSent) response.end(`${JSON.stringify(problem)}\n`);
  }
}
