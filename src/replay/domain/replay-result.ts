import type { RefusedResult, StoredResult } from '../../ingest/domain/ingest-result';
import type { EffectFailure } from '../../processing/domain/event-effects';
import type { FailedReplay, ReplayAttempt } from '../../review/domain/resolution';

/** The result of a replay: of a refused event (`IngestResult`), or of a stored event whose processing failed. */
export type ReplayResult =
  | Pick<StoredResult, 'status' | 'eventId'>
  | RefusedResult
  | { readonly status: 'processed'; readonly eventId: string }
  | { readonly status: 'failed'; readonly eventId: string; readonly failure: EffectFailure };

/**
 * The failure to store in the entry `id`: a list with one element, or an empty list if the event was stored or
 * processed. A duplicate is a failure only for an entry that is still open, because the stored event has other content.
 */
export function failedReplay(id: string, attempt: ReplayAttempt, result: ReplayResult): FailedReplay[] {
  switch (result.status) {
    case 'accepted':
    case 'processed':
      return [];
    case 'duplicate':
      return [{ id, resolution: { ...attempt, outcome: 'duplicate' } }];
    case 'error':
      return [{ id, resolution: { ...attempt, outcome: 'error', ...describeFailure(result.refusal) } }];
    case 'failed':
      return [{ id, resolution: { ...attempt, outcome: 'failed', ...describeFailure(result.failure) } }];
  }
}

function describeFailure({
  code,
  message,
  details,
}: Pick<EffectFailure, 'code' | 'message' | 'details'>): Omit<
  FailedReplay['resolution'],
  keyof ReplayAttempt | 'outcome'
> {
  return { errorCode: code, reason: details[0]?.code ?? code, message, details };
}
