import { Injectable } from '@nestjs/common';
import { refuseSource } from '../ingest/domain/judge';
import type { Sender } from '../ingest/judged-event';
import { ProcessingReplay } from '../processing/processing-replay';
import type { KeptEntry } from '../review/domain/kept-entry';
import type { ReplayAttempt } from '../review/domain/resolution';
import type { ReplayResult } from './domain/replay-result';

/** Has the event of an entry processed again that is stored and could not be processed. */
@Injectable()
export class StoredEventReplay {
  constructor(private readonly processing: ProcessingReplay) {}

  /** The entry is closed with it. Throws `unavailable`; the entry then stays as it was. */
  async replay(
    { tenantId, sources }: Sender,
    { id, source }: Pick<KeptEntry, 'id' | 'source'>,
    eventId: string,
    attempt: ReplayAttempt,
  ): Promise<ReplayResult> {
    const refusal = refuseSource(source, sources);
    if (refusal !== undefined) return { status: 'error', refusal };
    const { failure } = await this.processing.replay({ tenantId, eventId, replay: { entryId: id, attempt } });
    return failure === undefined ? { status: 'processed', eventId } : { status: 'failed', eventId, failure };
  }
}
