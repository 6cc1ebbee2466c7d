import type { Request, Response } from 'express';
import type { Principal } from '../platform/auth/principal';
import { spenderOf } from '../platform/auth/spender';
import { unavailable } from '../platform/database/database-errors';
import { DomainError } from '../platform/errors/domain-error';
import { receivedJson, sentTextOf } from '../platform/http/json-body';
import { entryTexts } from '../platform/json/json-text';
import type { RateLimits } from '../platform/rate-limit/rate-limits';
import { jsonTextOf } from '../platform/json/json-text-of';
import type { CheckedEvent, EventFamily, Refusal, SentEvent } from './domain/incoming-event';
import type { IngestResult } from './domain/outcome';
import { isDryRun } from './dry-run';
import { ingestResultDto, type BatchResultDto, type ItemResultDto } from './dto/ingest-result.dto';
import type { IngestFigures } from './ingest-figures';
import type { IngestService } from './ingest.service';

const ACCEPTED = 202;
const OK = 200;

/** A refusal that the review area has been told of already. */
export class RefusedEventError extends DomainError {}

/** How a family checks one event. */
export type CheckEvent = (sent: SentEvent) => CheckedEvent | Promise<CheckedEvent>;

/** What the two ingest families have in common between a parsed body and an answer. */
export abstract class IngestController {
  protected constructor(
    private readonly ingest: IngestService,
    private readonly limits: RateLimits,
    private readonly figures: IngestFigures,
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
    // The guard has let it in as one event.
    this.limits.charge('events', spenderOf(caller), response, items.length - 1);
    // Memory is what counts here, and a batch's items are mostly alike.
    const bytes = Math.ceil((receivedJson(request)?.raw.length ?? 0) / items.length);
    const texts = itemTexts(request);
    const checking = items.map((value, index) =>
      check({ value, bytes, text: () => texts()[index] ?? jsonTextOf(value) }),
    );
    const checked = checkedAlready(checking) ?? (await Promise.all(checking.map((each) => Promise.resolve(each))));
    const results = await this.ingest.ingestAll(caller, checked, { dryRun });
    // An absent database is no fault of the items; clients know how to wait for a 503.
    if (results.every(isUnavailable)) throw unavailable();
    if (!dryRun) this.figures.settled(this.family, results);
    return { results: results.map((result, index) => ingestResultDto(result, `items[${index}]`)) };
  }
}

/** Rather than wait for a thousand events that are checked already. */
function checkedAlready(checking: readonly (CheckedEvent | Promise<CheckedEvent>)[]): CheckedEvent[] | undefined {
  const checked: CheckedEvent[] = [];
  for (const each of checking) {
    if (each instanceof Promise) return undefined;
    checked.push(each);
  }
  return checked;
}

/** The items as they came, taken apart when the first of them is asked for. */
function itemTexts(request: Request): () => readonly string[] {
  let texts: readonly string[] | undefined;
  return () => {
    const raw = receivedJson(request)?.raw;
    texts ??= raw === undefined ? [] : entryTexts(sentTextOf(raw), 'items');
    return texts;
  };
}

function isUnavailable(result: IngestResult): boolean {
  return result.status === 'error' && result.refusal.code === 'unavailable';
}

function refusalError({ code, message, details }: Refusal): DomainError {
  if (code === 'unavailable') return unavailable();
  return new RefusedEventError(code, message, { details });
}
