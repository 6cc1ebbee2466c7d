import { Injectable } from '@nestjs/common';
import { refuseSource } from '../ingest/domain/ingest-result';
import type { Sender } from '../ingest/domain/checked-event';
import { ProcessingReplay } from '../processing/processing-replay';
import type { StoredEntry } from '../review/domain/review-entry';
import type { ReplayAttempt } from '../review/domain/resolution';
import type { ReplayResult } from './domain/replay-result';

/** Processes the event of an entry again: the event is stored, and its processing failed. */
@Injectable()
export class StoredEventReplay {
  constructor(private readonly processing: ProcessingReplay) {}

  /** Success closes the entry in the same transaction. Throws `unavailable`; the entry then stays as it was. */
  async replay(
    { tenantId, sources }: Sender,
    { id, source }: Pick<StoredEntry, 'id' | 'source'>,
    eventId: string,
    attempt: ReplayAttempt,
  ): Promise<ReplayResult> {
    const refusal = refuseSource(source, sources);
    if (refusal !== undefined) return { status: 'error', refusal };
    const again = { tenantId, eventId, replay: { entryId: id, attempt } };
    const { failure, wasProcessed = false, hasExpired = false } = await this.processing.replay(again);
    if (failure !== undefined) return { status: 'failed', eventId, failure };
    // Of several concurrent replays one processes the event; the others get `duplicate`, as for an expired event.
    return wasProcessed || hasExpired ? { status: 'duplicate', eventId } : { status: 'processed', eventId };
  }
}
