import type { Principal } from '../platform/auth/principal';
import { isObject } from '../platform/values/json/is-object';
import type { SizedWork } from '../platform/group-commit/group-commit';
import type { Problem } from '../review/domain/review-entry';
import { contentHashOf } from './domain/content-hash';
import { eventIdOf } from './domain/event-id';
import type { CheckedEvent, IncomingEvent, Refusal, TakenEvent } from './domain/incoming-event';
import { isClockSkewed, refusalInTheLane, refuseSource } from './domain/judge';
import type { IngestResult, Outcome, WarningReason } from './domain/outcome';
import { differingCopyProblem, warningProblem } from './domain/warning-entry';
import type { IngestWork } from './store/store-results';
import type { RecentDeprecationWarnings } from './recent-deprecation-warnings';

/** Who sends events, as far as that decides which ones are taken. */
export type Sender = Pick<Principal, 'tenantId' | 'sources'>;

/** An event on its way: what was sent, and either the work that it makes, or why it makes none. */
export interface Judged {
  readonly checked: CheckedEvent;
  readonly work?: IngestWork;
  readonly refusal?: Refusal;
  /** The stored event that it is a copy of, and whether it says the same. */
  readonly copy?: { readonly eventId: string; readonly isSame: boolean };
}

/** `receivedAt`: epoch milliseconds. `told`: of which deprecated types nobody needs to hear again today. */
export function judgeEvent(
  { tenantId, sources }: Sender,
  sent: CheckedEvent,
  receivedAt: number,
  told?: RecentDeprecationWarnings,
): Judged {
  const { checked } = sent;
  const refused = refuseSource(sourceOf(sent), sources);
  if (refused !== undefined) return { checked: sent, refusal: refused };
  if ('refusal' in checked) return { checked: sent, refusal: checked.refusal };
  const warnings = warningsOf(tenantId, checked, receivedAt, told);
  return { checked: sent, work: workOf(tenantId, sent, checked.event, { receivedAt, warnings }) };
}

/** The work that a refused event makes once it is known to be a copy of a stored one; undefined when it is not well-formed. */
export function workOfRefused(tenantId: string, sent: CheckedEvent, receivedAt: number): IngestWork | undefined {
  const { event } = sent.checked;
  return event === undefined ? undefined : workOf(tenantId, sent, event, { receivedAt, warnings: [] });
}

function workOf(
  tenantId: string,
  { sent }: CheckedEvent,
  event: IncomingEvent,
  rest: Pick<IngestWork, 'receivedAt' | 'warnings'>,
): IngestWork {
  return {
    tenantId,
    event,
    eventId: eventIdOf(tenantId, event.source, event.externalEventId),
    contentHash: contentHashOf(event),
    receivedAt: rest.receivedAt,
    text: sent.text,
    warnings: rest.warnings,
  };
}

/** The work that judged events make, in their order. */
export function worksOf(judged: readonly Judged[]): SizedWork<IngestWork>[] {
  return judged.flatMap(({ work, checked: { sent } }) => (work === undefined ? [] : [{ work, bytes: sent.bytes }]));
}

function warningsOf(
  tenantId: string,
  { event, isDeprecated }: TakenEvent,
  receivedAt: number,
  told: RecentDeprecationWarnings | undefined,
): WarningReason[] {
  const warnings: WarningReason[] = [];
  if (isClockSkewed(event.occurredAt, receivedAt)) warnings.push('clock_skew');
  const isNews = isDeprecated === true && told?.has(tenantId, event.eventType, receivedAt) !== true;
  if (isNews) warnings.push('event_type_deprecated');
  return warnings;
}

function sourceOf({ sent: { value } }: CheckedEvent): unknown {
  return isObject(value) ? value['source'] : undefined;
}

/** What became of one event, in the words of its sender and in those of the database. */
export interface Result {
  readonly judged: Judged;
  readonly result: IngestResult;
  readonly outcome: Outcome | undefined;
}

/** Puts outcomes into words; there is one for each piece of work, in their order. */
export function resultsOf(judged: readonly Judged[], outcomes: readonly (Outcome | undefined)[]): Result[] {
  let settled = 0;
  return judged.map((event): Result => {
    const { work, refusal, copy } = event;
    if (copy !== undefined) {
      return { judged: event, result: { status: 'duplicate', eventId: copy.eventId }, outcome: undefined };
    }
    if (refusal !== undefined) return { judged: event, result: { status: 'error', refusal }, outcome: undefined };
    const outcome = outcomes[settled++];
    if (work === undefined || outcome === undefined) throw new Error('An event was left without an outcome');
    const result: IngestResult =
      outcome.status === 'refused'
        ? { status: 'error', refusal: refusalInTheLane(outcome.code) }
        : { status: outcome.status, eventId: work.eventId };
    return { judged: event, result, outcome };
  });
}

/** The warnings of an event that was settled in memory, by what became of another copy. */
export function warningsOfCopy(
  { tenantId }: Sender,
  { judged: { checked, work, copy }, outcome }: Result,
  at: number,
): Problem[] {
  if (copy !== undefined) return copy.isSame ? [] : [differingCopyProblem(tenantId, checked, at)];
  if (work === undefined) return [];
  if (outcome === undefined || outcome.status === 'refused' || outcome.copy !== true) return [];
  return outcome.warnings.map((reason) => warningProblem(work, reason));
}
