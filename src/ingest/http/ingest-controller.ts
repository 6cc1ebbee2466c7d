import { ApiQuery } from '@nestjs/swagger';
import type { Response } from 'express';
import { rateLimitSubjectOf, type Principal } from '../../platform/auth/principal';
import { FAULTS_MAX } from '../../platform/errors/cap-faults';
import { describeFaults } from '../../platform/errors/describe-faults';
import { DomainError } from '../../platform/errors/domain-error';
import type { Fault } from '../../platform/errors/fault';
import { enumFault, fieldPath, unknownFieldFault } from '../../platform/errors/fault-words';
import { unavailable } from '../../platform/errors/unavailable';
import { BodyRefusal } from '../../platform/http/body/body-refusal';
import { sentTextOf, type ReceivedJson } from '../../platform/http/body/json-body';
import { chargeUnits, type RateLimits } from '../../platform/rate-limit/rate-limits';
import { entriesOf } from '../../platform/values/json/json-entries';
import { isUnavailable, type Refusal } from '../domain/ingest-result';
import type { EventFamily, Submission } from '../domain/submission';
import { capListedFaults, FaultBudget } from '../domain/fault-budget';
import type { IngestMode, IngestPipeline } from '../pipeline';
import { ingestResultDto, type BatchResultDto, type ItemResultDto } from './dto/ingest-result.dto';
import type { EventOrigin, IngestMetrics, IngestRequest } from './ingest-metrics';

const ACCEPTED = 202;
const OK = 200;
/** The one query parameter of the ingest routes. */
const DRY_RUN = 'dry_run';

/** The refusal of one event, which the review area has recorded already. */
export class RefusedEventError extends DomainError {
  constructor(
    readonly refusal: Refusal,
    readonly submission: Submission,
  ) {
    super(refusal.code, refusal.message, { details: refusal.details });
  }
}

/** The body of a batch request. */
export type ReceivedBatch = ReceivedJson<{ readonly items: readonly unknown[] }>;

/** What the routes of both ingest families share: from a parsed body to the answer. */
export abstract class IngestController {
  protected constructor(
    private readonly pipeline: IngestPipeline,
    private readonly limits: RateLimits,
    private readonly metrics: IngestMetrics,
    private readonly family: EventFamily,
  ) {}

  /** Takes the one event of a request; a refusal is thrown. */
  protected async takeOne(
    caller: Principal,
    request: IngestRequest,
    response: Response,
    { value, raw }: ReceivedJson,
  ): Promise<ItemResultDto> {
    try {
      const mode = this.modeOf(caller, request, response, raw);
      const submission = { family: this.family, value, bytes: raw.length, text: () => sentTextOf(raw) };
      const result = await this.pipeline.ingestOne(caller, submission, mode);
      if (result.status === 'error') throw refusalError(result.refusal, submission);
      if (isCounted(caller, mode)) this.metrics.countResults(this.originOf(caller), [submission], [result]);
      response.status(result.status === 'accepted' ? ACCEPTED : OK);
      return ingestResultDto(result);
    } catch (error) {
      request.sentEvents = [value];
      throw error;
    }
  }

  /** Takes the items of a batch, each by itself. */
  protected async takeAll(
    caller: Principal,
    request: IngestRequest,
    response: Response,
    body: ReceivedBatch,
  ): Promise<BatchResultDto> {
    const { items } = body.value;
    request.sentEvents = items;
    const mode = this.modeOf(caller, request, response, body.raw);
    chargeUnits(request, items.length);
    const submissions = this.submissionsOf(body);
    const results = await this.pipeline.ingest(caller, submissions, mode);
    // An absent database is no fault of the items; clients know how to wait for a 503.
    if (results.every(isUnavailable)) throw unavailable();
    if (isCounted(caller, mode)) this.metrics.countResults(this.originOf(caller), submissions, results);
    // They are for the count of a refusal, and the answer may wait for its client much longer than they are needed.
    delete request.sentEvents;
    const answered = results.map((result, index) => ingestResultDto(result, `items[${index}]`));
    return { results: answered.length > FAULTS_MAX ? capListedFaults(answered) : answered };
  }

  /** A dry run reads the database, and counts among the reads of its caller too. */
  private modeOf(caller: Principal, request: IngestRequest, response: Response, body: Buffer): IngestMode {
    assertIngestQuery(request.query, body);
    if (!isDryRun(request.query)) return 'live';
    this.limits.admit('reads', rateLimitSubjectOf(caller), request, response);
    return 'dry_run';
  }

  private originOf({ tenantId }: Principal): EventOrigin {
    return { tenantId, family: this.family };
  }

  private submissionsOf({ value: { items }, raw, entries: known }: ReceivedBatch): Submission[] {
    // The texts of the items are found when the first of them is asked for.
    let entries = known;
    const text = (index: number): string => (entries ??= entriesOf(raw, 'items')).text(index);
    const faults = new FaultBudget(items.length);
    // What counts is memory, and the items of a small batch are mostly alike.
    const bytes = Math.ceil(raw.length / items.length);
    return items.map((value, index) => ({
      family: this.family,
      value,
      bytes: known?.bytes(index) ?? bytes,
      text: () => text(index),
      faults,
    }));
  }
}

/** Events that somebody tries in the console are no traffic of sources (contract section 10). */
function isCounted({ session }: Principal, mode: IngestMode): boolean {
  return mode === 'live' && session === undefined;
}

function refusalError(refusal: Refusal, submission: Submission): DomainError {
  return refusal.code === 'unavailable' ? unavailable() : new RefusedEventError(refusal, submission);
}

/** Describes `?dry_run=` of a route; the route checks it itself (`assertIngestQuery`). */
export function ApiDryRun(): MethodDecorator {
  return ApiQuery({
    name: DRY_RUN,
    required: false,
    enum: ['true', 'false'],
    description: '`true` answers as the live call would and writes nothing.',
  });
}

/** Whether a request says that it is a dry run. Its query may still be wrong, see `assertIngestQuery`. */
export function isDryRun(query: Readonly<Record<string, unknown>>): boolean {
  return Object.hasOwn(query, DRY_RUN) && query[DRY_RUN] === 'true';
}

/**
 * Checks the query of an ingest route. It is no query class, because Nest would check that before the body is read, and a
 * misspelt parameter must not lose the events of `body`. Throws `validation_failed`.
 */
function assertIngestQuery(query: Readonly<Record<string, unknown>>, body: Buffer): void {
  const faults = Object.keys(query).flatMap((name): Fault[] =>
    name === DRY_RUN ? [] : [unknownFieldFault(fieldPath('', name), 'this query')],
  );
  const value = Object.hasOwn(query, DRY_RUN) ? query[DRY_RUN] : undefined;
  if (value !== undefined && value !== 'true' && value !== 'false') faults.push(enumFault(DRY_RUN, ['true', 'false']));
  if (faults.length > 0) {
    throw new BodyRefusal('validation_failed', describeFaults(faults), body, { details: faults }, true);
  }
}
