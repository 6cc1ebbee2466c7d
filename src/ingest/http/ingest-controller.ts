import type { Request, Response } from 'express';
import type { Principal } from '../../platform/auth/principal';
import { rateLimitSubjectOf } from '../../platform/auth/rate-limit-subject';
import { inTurns } from '../../platform/async/in-turns';
import { unavailable } from '../../platform/errors/unavailable';
import { FAULTS_MAX } from '../../platform/errors/cap-faults';
import { DomainError } from '../../platform/errors/domain-error';
import { excessFault } from '../../platform/errors/fault-words';
import { receivedJson, sentTextOf } from '../../platform/http/body/json-body';
import { entriesOf, UnparsedEntry } from '../../platform/values/json/json-entries';
import { chargeUnits } from '../../platform/rate-limit/request-meter';
import type { RateLimits } from '../../platform/rate-limit/rate-limits';
import { refuseInvalid } from '../parse/event-fields';
import { capListedFaults, FaultBudget } from '../parse/fault-budget';
import type { CheckedEvent, EventFamily, Refusal, SentEvent } from '../domain/incoming-event';
import type { IngestResult } from '../domain/outcome';
import { isDryRun } from './dry-run';
import { ingestResultDto, type BatchResultDto, type ItemResultDto } from './dto/ingest-result.dto';
import type { IngestMetrics } from './ingest-metrics';
import type { IngestService } from '../ingest.service';

const ACCEPTED = 202;
const OK = 200;
/** For turns of the event loop: to find the faults of the smallest event takes as long as to check so many bytes. */
const CHECK_BYTES_MIN = 1024;

/** A refusal that the review area has been told of already. */
export class RefusedEventError extends DomainError {}

/** How a family checks one event. */
export type CheckEvent = (sent: SentEvent) => CheckedEvent | Promise<CheckedEvent>;

/** What the two ingest families have in common between a parsed body and an answer. */
export abstract class IngestController {
  protected constructor(
    private readonly ingest: IngestService,
    private readonly limits: RateLimits,
    private readonly figures: IngestMetrics,
    private readonly family: EventFamily,
  ) {}

  /** Takes the event that the request has brought; a refusal is thrown. */
  protected async takeOne(
    caller: Principal,
    request: Request,
    response: Response,
    check: CheckEvent,
  ): Promise<ItemResultDto> {
    const dryRun = isDryRun(request.query);
    if (dryRun) this.limits.admit('reads', rateLimitSubjectOf(caller), request, response);
    const body = receivedJson(request);
    if (body === undefined) throw new Error('A route takes an event without reading the body');
    const { value, raw } = body;
    const sent = { value, bytes: raw.length, text: () => sentTextOf(raw) };
    const checking = check(sent);
    const checked = checking instanceof Promise ? await checking : checking;
    const result = await this.ingest.ingest(caller, checked, { dryRun });
    if (result.status === 'error') throw refusalError(result.refusal);
    if (!dryRun) this.figures.settled(this.family, [result]);
    response.status(result.status === 'accepted' ? ACCEPTED : OK);
    return ingestResultDto(result);
  }

  /** Takes the items of a batch, each by itself. */
  protected async takeAll(
    caller: Principal,
    request: Request,
    response: Response,
    items: readonly unknown[],
    check: CheckEvent,
  ): Promise<BatchResultDto> {
    const dryRun = isDryRun(request.query);
    this.figures.batch(request, items.length);
    // What a dry run asks of the database is read, and counts as that too.
    if (dryRun) this.limits.admit('reads', rateLimitSubjectOf(caller), request, response);
    chargeUnits(request, items.length);
    const sent = sentEvents(request, items);
    const checking = inTurns(
      sent,
      ({ bytes }) => Math.max(bytes, CHECK_BYTES_MIN),
      (event) => unparsed(this.family, event) ?? check(event),
    );
    const checked = checking instanceof Promise ? await checking : checking;
    const results = await this.ingest.ingestAll(caller, checked, { dryRun });
    // An absent database is no fault of the items; clients know how to wait for a 503.
    if (results.every(isUnavailable)) throw unavailable();
    if (!dryRun) this.figures.settled(this.family, results);
    const answered = results.map((result, index) => ingestResultDto(result, `items[${index}]`));
    return { results: answered.length > FAULTS_MAX ? capListedFaults(answered) : answered };
  }
}

/** The items of a batch with their texts as they came, which are looked for when the first of them is asked for. */
function sentEvents(request: Request, items: readonly unknown[]): SentEvent[] {
  const body = receivedJson(request);
  if (body === undefined) throw new Error('A route takes events without reading the body');
  const { raw } = body;
  let { entries } = body;
  const text = (index: number): string => (entries ??= entriesOf(raw, 'items')).text(index);
  const faults = new FaultBudget(items.length);
  // Memory is what counts here, and the items of a small batch are mostly alike.
  const bytes = Math.ceil(raw.length / items.length);
  return items.map((value, index) => ({
    value,
    bytes: entries?.bytes(index) ?? bytes,
    text: () => text(index),
    faults,
  }));
}

/** The refusal of an item that was not parsed, since it has more values or keys than any event may have. */
function unparsed(family: EventFamily, sent: SentEvent): CheckedEvent | undefined {
  if (!(sent.value instanceof UnparsedEntry)) return undefined;
  return refuseInvalid(family, sent, [excessFault('', sent.value.excess)]);
}

function isUnavailable(result: IngestResult): boolean {
  return result.status === 'error' && result.refusal.code === 'unavailable';
}

function refusalError({ code, message, details }: Refusal): DomainError {
  if (code === 'unavailable') return unavailable();
  return new RefusedEventError(code, message, { details });
}
