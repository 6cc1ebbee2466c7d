import type { RefusedResult, StoredResult } from '../../ingest/domain/ingest-result';
import type { EffectFailure } from '../../processing/domain/event-effects';

/** What a replay has come to: that of an event that was refused, or of one that is stored and could not be processed. */
export type ReplayResult =
  | Pick<StoredResult, 'status' | 'eventId'>
  | RefusedResult
  | { readonly status: 'processed'; readonly eventId: string }
  | { readonly status: 'failed'; readonly eventId: string; readonly failure: EffectFailure };
