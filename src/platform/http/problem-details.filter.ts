import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { databaseRefusal } from '../postgres/database-errors';
import { ClientGone } from '../errors/client-gone';
import { requestIdOf } from './request-id';
import { endBeforeBody } from './unread-body';
import { DomainError } from '../errors/domain-error';
import { ERROR_CODES, type ErrorCode } from '../errors/error-codes';
import { describeError } from '../errors/error-summary';
import { problemDetails, problemHeaders, type ProblemDetails } from '../errors/problem-details';
import type { StatusPolicy } from '../errors/status-policy';

/** The codes for exceptions of the framework. Their messages may quote the request, so they are replaced. */
const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthenticated',
  403: 'insufficient_scope',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  503: 'unavailable',
};

/** These methods change nothing. Other reading routes have `RefusedReadFilter`. */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * The only place where errors become answers. A refusal (`DomainError`) keeps its message. Errors of the framework and of the
 * database are translated. Any other error is a bug and is answered 500 without details.
 */
@Catch()
export class ProblemDetailsFilter implements ExceptionFilter {
  private readonly logger = new Logger('Problem');

  constructor(
    private readonly policy: StatusPolicy = {},
    private readonly asDomainError: (error: unknown) => DomainError | undefined = databaseRefusal,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const problem = this.begin(error, request, response);
    if (problem !== undefined) endBeforeBody(request, response, `${JSON.stringify(problem)}\n`);
  }

  /** Sets status and headers of the answer, and returns its body. Undefined: there is nobody left to answer. */
  begin(error: unknown, request: Request, response: Response): ProblemDetails | undefined {
    if (error instanceof ClientGone) {
      response.destroy();
      return undefined;
    }
    const refusal = READS.has(request.method) ? this.refusalOf(error).ofRead() : this.refusalOf(error);
    const requestId = requestIdOf(request);
    this.log(refusal, requestId);
    if (response.headersSent) {
      // A part of the answer has been sent. Closing the connection is the only way to show that it is incomplete.
      response.destroy();
      return undefined;
    }
    const problem = problemDetails(refusal, requestId, this.policy);
    response.statusCode = problem.status;
    for (const [name, value] of Object.entries(problemHeaders(refusal, this.policy))) response.setHeader(name, value);
    return problem;
  }

  /** The refusal that an error is answered with. */
  refusalOf(error: unknown): DomainError {
    if (error instanceof DomainError) return error;
    return refusalOfFramework(error) ?? this.asDomainError(error) ?? internalError(error);
  }

  /** Refusals are not logged, unless an underlying error is their cause. */
  private log(refusal: DomainError, requestId: string): void {
    const cause = refusal.extras.cause;
    if (cause === undefined) return;
    const { line, stack } = describeError(cause);
    if (refusal.code === 'internal') this.logger.error(`Request ${requestId} failed: ${line}`, stack);
    else this.logger.warn(`Request ${requestId} was refused as ${refusal.code}: ${line}`);
  }
}

function refusalOfFramework(error: unknown): DomainError | undefined {
  // The router throws it for a path with broken percent-encoding, which no route has.
  if (error instanceof URIError) return refusal('not_found');
  if (!(error instanceof HttpException)) return undefined;
  if (error.cause instanceof URIError) return refusal('not_found');
  const status = error.getStatus();
  const code = CODE_OF_STATUS[status];
  if (code !== undefined) return refusal(code);
  return status < 500 ? refusal('validation_failed') : undefined;
}

function refusal(code: ErrorCode): DomainError {
  const { title, remedy } = ERROR_CODES[code];
  return new DomainError(code, `${title}. ${remedy}`);
}

function internalError(cause: unknown): DomainError {
  return new DomainError('internal', 'Internal error. Your request is not the cause; retry with the same event id.', {
    cause: cause ?? 'nothing',
  });
}

/** For routes that only read, by any method: messages of their refusals do not mention effects. */
@Catch()
export class RefusedReadFilter implements ExceptionFilter {
  constructor(private readonly problems: ProblemDetailsFilter) {}

  catch(error: unknown, host: ArgumentsHost): void {
    this.problems.catch(error instanceof ClientGone ? error : this.problems.refusalOf(error).ofRead(), host);
  }
}
