import type { Problem } from '../../review/domain/review-entry';
import type { EffectFailure, StoredEventRecord } from './event-effects';

/** What the review area groups a failure under. */
export function reasonOf({ code, details }: EffectFailure): string {
  return details[0]?.code ?? code;
}

/** What the record of an event says of a failure. */
export function lastErrorOf(failure: EffectFailure): string {
  return storable(`${reasonOf(failure)}: ${failure.message}`);
}

/** An event that failed for good, for the review area (contract section 7). The event is stored: no payload is kept beside it. */
export function processingProblem(
  tenantId: string,
  event: StoredEventRecord,
  failure: EffectFailure,
  at: number,
): Problem {
  const { eventId, family, source, externalEventId, eventType } = event;
  return {
    ...{ tenantId, severity: 'error', stage: 'processing', reason: reasonOf(failure) },
    ...{ message: failure.message, details: failure.details },
    ...{ family, source, externalEventId, eventType, eventId },
    payload: { form: 'json', text: 'null' },
    at,
  };
}

/** PostgreSQL's text takes no U+0000, and UTF-8 no lone surrogate. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '');
}
