import type { ProcessingRecord, ReactionRecord, RecordToWrite } from '../../ingest/queue/processing-record';
import type { LoggedEvent } from '../../ingest/domain/event';
import type { EffectFailure, EffectResult, EventToProcess } from './event-effects';
import type { Problem } from '../../review/domain/review-entry';

/** An event with its processing record so far, if it has one. */
interface Recorded {
  readonly eventId: string;
  readonly before: ProcessingRecord | undefined;
}

/** The record of an event that leaves the queue: processed, or failed for good. */
export function finishedRecord(
  { eventId, before }: Recorded,
  attempts: number,
  { reactions, failure }: EffectResult,
): RecordToWrite {
  const all = withApplied(before?.reactions ?? [], reactions);
  // A reaction that failed before and was not tried again still waits for a replay.
  const hasFailed = failure !== undefined || all.some(({ outcome }) => outcome === 'failed');
  const lastError = failure === undefined ? (before?.lastError ?? null) : lastErrorOf(failure);
  return {
    eventId,
    isFirst: before === undefined,
    attempts,
    state: hasFailed ? 'failed' : 'processed',
    lastError: hasFailed ? lastError : null,
    reactions: all,
  };
}

/** The record of an event that will be tried again. */
export function waitingRecord({ eventId, before }: Recorded, attempts: number, failure: EffectFailure): RecordToWrite {
  const isFirst = before === undefined;
  return {
    eventId,
    isFirst,
    attempts,
    state: 'queued',
    lastError: lastErrorOf(failure),
    reactions: before?.reactions ?? [],
  };
}

/**
 * The result of an event whose last attempt failed as a whole. What is recorded of its reactions stays, so that a replay
 * knows those that a backfill brought. Those that waited for their customer have failed: the event waits no longer.
 */
export function givenUp({ before }: Pick<Recorded, 'before'>, failure: EffectFailure): EffectResult {
  const reactions = (before?.reactions ?? []).map((each): ReactionRecord =>
    each.outcome === 'waiting_for_customer' ? { ...each, outcome: 'failed', reason: reasonOf(failure) } : each,
  );
  return { reactions, failure };
}

/** The reactions of an event whose person was erased: those that waited or failed will never be applied. */
export function erasedReactions(reactions: readonly ReactionRecord[]): readonly ReactionRecord[] {
  return reactions.map((each) =>
    each.outcome === 'waiting_for_customer' || each.outcome === 'failed'
      ? { ...each, outcome: 'skipped', reason: 'profile_erased' }
      : each,
  );
}

/** Applied reactions stay recorded for ever, so that none is applied twice. */
function withApplied(before: readonly ReactionRecord[], now: readonly ReactionRecord[]): readonly ReactionRecord[] {
  const applied = before.filter(
    (each) => each.outcome === 'applied' && !now.some((other) => isSameReaction(each, other)),
  );
  return applied.length === 0 ? now : [...applied, ...now];
}

function isSameReaction(a: ReactionRecord, b: ReactionRecord): boolean {
  return a.campaignId === b.campaignId && a.name === b.name;
}

/** The reason under which the review area groups a failure. */
export function reasonOf({ code, details }: EffectFailure): string {
  return details[0]?.code ?? code;
}

/** The `lastError` of an event's record. */
export function lastErrorOf(failure: EffectFailure): string {
  return storable(`${reasonOf(failure)}: ${failure.message}`);
}

/**
 * The review entry of an event that failed for good (contract section 7). It has no payload: the event itself is
 * stored.
 */
export function processingProblem(tenantId: string, event: LoggedEvent, failure: EffectFailure, at: number): Problem {
  const { eventId, family, source, externalEventId, eventType } = event;
  return {
    tenantId,
    severity: 'error',
    stage: 'processing',
    reason: reasonOf(failure),
    message: failure.message,
    details: failure.details,
    family,
    source,
    externalEventId,
    eventType,
    eventId,
    payload: { form: 'json', text: 'null' },
    at,
  };
}

/** A review entry for each of the events that failed. */
export function processingProblems(
  tenantId: string,
  processed: readonly { readonly entry: { readonly toProcess: EventToProcess }; readonly result: EffectResult }[],
  at: number,
): Problem[] {
  return processed.flatMap(({ entry: { toProcess }, result: { failure } }) =>
    failure === undefined ? [] : [processingProblem(tenantId, toProcess.event, failure, at)],
  );
}

/** PostgreSQL's text takes no U+0000, and UTF-8 no lone surrogate. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '');
}

/** Contract section 8: attempts at an event that may still succeed, all within a minute. */
export const ATTEMPTS_MAX = 5;

/** The delays before the second attempt and each later one. */
const DELAYS_MS = [1_000, 3_000, 8_000, 18_000] as const;
/** Delays vary by up to this share, so that events that failed together are not retried together. */
const JITTER = 0.25;

/** Milliseconds until the next attempt; undefined after the last one. `random`: from 0 to below 1. */
export function attemptDelayMs(attempts: number, random: number): number | undefined {
  const delay = attempts < ATTEMPTS_MAX ? DELAYS_MS[attempts - 1] : undefined;
  return delay === undefined ? undefined : Math.round(delay * (1 - JITTER + 2 * JITTER * random));
}
