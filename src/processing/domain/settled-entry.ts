import type { ProcessingRecord } from '../../ingest/domain/processing-record';
import type { EffectFailure, EffectResult } from './event-effects';
import { lastErrorOf } from './processing-problem';

/** The record of an event that has left the queue, whether it could be processed or never will be. */
export function finishedRecord(
  eventId: string,
  attempts: number,
  { reactions, failure }: EffectResult,
): ProcessingRecord {
  return {
    ...{ eventId, attempts, state: failure === undefined ? 'processed' : 'failed' },
    lastError: failure === undefined ? null : lastErrorOf(failure),
    reactions,
  };
}

/** The record of an event that will be tried again. */
export function waitingRecord(eventId: string, attempts: number, failure: EffectFailure): ProcessingRecord {
  return { eventId, attempts, state: 'queued', lastError: lastErrorOf(failure), reactions: [] };
}
