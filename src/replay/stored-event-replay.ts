import { Injectable } from '@nestjs/common';
import { refuseSource } from '../ingest/domain/refusals';
import type { Sender } from '../ingest/domain/checked-event';
import { ProcessingReplay } from '../processing/processing-replay';
import type { StoredEntry } from '../review/domain/stored-entry';
import type { ReplayAttempt } from '../review/domain/resolution';
import type { ReplayResult } from './domain/replay-result';

/** Has the event of an entry processed again that is stored and could not be processed. */
@Injectable()
export class StoredEventReplay {
  constructor(private readonly processing: ProcessingReplay) {}

  /** The entry is closed with it. Throws `unavailable`; the entry then stays as it was. */
  async replay(
    { tenantId, sources }: Sender,
    { id, source }: Pick<StoredEntry, 'id' | 'source'>,
    eventId: string,
    attempt: ReplayAttempt,
  ): Promise<ReplayResult> {
    const refusal = refuseSource(source, sources);
    if (refusal !== undefined) return { status: 'error', refusal };
    const again = { tenantId, eventId, replay: { entryId: id, attempt } };
    const { failure, wasProcessed = false } = await this.processing.replay(again);
    if (failure !== undefined) return { status: 'failed', eventId, failure };
    // Of any number of replays one has processed it; the others count it as there already.
    return wasProcessed ? { status: 'duplicate', eventId } : { status: 'processed', eventId };
  }
}
