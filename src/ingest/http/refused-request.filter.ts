import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { byteTurns } from '../../platform/async/byte-turns';
import { Clock } from '../../platform/values/clock';
import { DomainError } from '../../platform/errors/domain-error';
import { ERROR_CODES } from '../../platform/errors/error-codes';
import { ProblemDetailsFilter } from '../../platform/http/problem-details.filter';
import { BodyRefusal } from '../../platform/http/body/body-refusal';
import { ClientGone } from '../../platform/errors/client-gone';
import { withoutMark } from '../../platform/http/body/json-body';
import { isObject } from '../../platform/values/json/json-values';
import { readableValueOf } from '../../platform/values/json/json-text';
import { beginningOfText } from '../../platform/values/text/beginning-of-text';
import { JSON_BYTES_MAX, type Problem, type ReviewPayload } from '../../review/domain/review-entry';
import { refusalProblem, withoutErasedPerson } from '../domain/review-problems';
import type { EventFamily } from '../domain/submission';
import { ProblemRecorder } from '../problem-recorder';
import { IngestMetrics, type IngestRequest } from './ingest-metrics';
import { isDryRun, RefusedEventError } from './ingest-controller';

const RECORDED_STATUSES: ReadonlySet<number> = new Set([400, 409, 413, 422]);

/**
 * Records the ingest requests that are refused as a whole, before any of their events is checked: bodies that are not JSON, too
 * large, or not a batch (contract section 7). The answer leaves once the entry can be read.
 */
@Catch()
export class RefusedRequestFilter implements ExceptionFilter {
  constructor(
    private readonly recorder: ProblemRecorder,
    private readonly problems: ProblemDetailsFilter,
    private readonly clock: Clock,
    private readonly metrics: IngestMetrics,
  ) {}

  async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<IngestRequest>();
    try {
      const found = this.problemOf(error, request);
      const problem = found === undefined ? undefined : await this.record(found);
      this.answer(error, request, host, problem);
    } catch (failure) {
      // A refusal that cannot be recorded is not answered as one: the client is asked to send it again.
      this.answer(failure, request, host);
    }
  }

  private answer(error: unknown, request: IngestRequest, host: ArgumentsHost, problem?: Problem): void {
    const refusal = this.problems.refusalOf(error);
    // A request without a valid credential has no events; one whose credential lacks the scope has.
    const isKnown = request.caller !== undefined || ERROR_CODES[refusal.code].status === 403;
    const isTraffic = !isDryRun(request.query) && request.sessionCaller === undefined;
    if (isKnown && isTraffic && !(error instanceof ClientGone)) {
      const tenantId = request.caller?.tenantId;
      this.metrics.countRefusedRequest({ tenantId, family: familyOf(request) }, refusal, request, () =>
        error instanceof RefusedEventError && tenantId !== undefined
          ? refusalProblem(tenantId, error.submission, error.refusal, 0)
          : problem,
      );
    }
    delete request.sentEvents;
    this.problems.catch(error, host);
  }

  /** Nothing is kept of a request that names an erased person in an event that can be read. */
  private async record(problem: Problem): Promise<Problem | undefined> {
    const identities = await identitiesIn(problem.payload);
    const describe = (namesErased: boolean): Problem =>
      namesErased ? withoutErasedPerson(problem, { form: 'json', text: '{}', isStripped: true }) : problem;
    const [recorded] = await this.recorder.record(problem.tenantId, [{ identities, describe }]);
    return recorded;
  }

  private problemOf(error: unknown, request: IngestRequest): Problem | undefined {
    const { caller } = request;
    if (!(error instanceof DomainError) || error instanceof RefusedEventError || caller === undefined) return undefined;
    if (!RECORDED_STATUSES.has(ERROR_CODES[error.code].status) || isDryRun(request.query)) return undefined;
    return {
      tenantId: caller.tenantId,
      severity: 'error',
      stage: 'request',
      reason: error.details[0]?.code ?? error.code,
      message: error.message,
      details: error.details,
      family: familyOf(request),
      payload: payloadOf(error, request),
      at: this.clock.now().getTime(),
    };
  }
}

function familyOf({ path }: IngestRequest): EventFamily {
  return path.startsWith('/v1/cdp/') ? 'cdp' : 'external';
}

function payloadOf(error: DomainError, request: IngestRequest): ReviewPayload {
  const isBeginning = error.code === 'payload_too_large';
  // The digest of a signed body that is too large was not checked: it may not be the body that was signed.
  if (isBeginning && request.expectedDigests !== undefined) return { form: 'text', text: '', isBeginning };
  if (!(error instanceof BodyRefusal)) return { form: 'text', text: '' };
  if (error.isJson) return { form: 'json', text: withoutMark(error.received) };
  return { form: 'text', text: error.received, isBeginning };
}

/**
 * The identities of the events in a body, as far as it is stored: of an event, of a list, or of the items of a batch. Read in a
 * turn of its own: the body was just walked over and refused, and its beginning may be 87,000 lists.
 */
async function identitiesIn({ text }: ReviewPayload): Promise<unknown[]> {
  const beginning = beginningOfText(text, JSON_BYTES_MAX).text;
  await byteTurns.take(beginning.length);
  const value = readableValueOf(beginning);
  const items = isObject(value) ? value['items'] : value;
  const events = [value, ...(Array.isArray(items) ? (items as unknown[]) : [])];
  return events.filter(isObject).map((event) => event['identity']);
}
