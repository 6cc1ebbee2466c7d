import type { IngestResult } from '../../ingest/domain/outcome';
import type { EffectFailure } from '../../processing/domain/event-effects';

/** What a replay has come to: that of an event that was refused, or of one that is stored and could not be processed. */
export type ReplayResult =
  | IngestResult
  | { readonly status: 'processed'; readonly eventId: string }
  | { readonly status: 'failed'; readonly eventId: string; readonly failure: EffectFailure };
