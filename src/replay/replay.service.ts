import { Injectable } from '@nestjs/common';
import type { Submission } from '../ingest/domain/submission';
import { IngestPipeline } from '../ingest/pipeline';
import type { Principal } from '../platform/auth/principal';
import { Clock } from '../platform/values/clock';
import { unavailable } from '../platform/errors/unavailable';
import { DomainError } from '../platform/errors/domain-error';
import { validationFailed } from '../platform/errors/validation-failed';
import { ReviewReader } from '../review/review-reader';
import { ReviewResolutions } from '../review/review-resolutions';
import type { StoredEntry } from '../review/domain/stored-entry';
import type { ReplayAttempt } from '../review/domain/resolution';
import { failedReplay } from './domain/failed-replay';
import type { ReplayResult } from './domain/replay-result';
import { assertMayReplay } from './domain/replay-permission';
import { replayable } from './domain/replayable';
import { StoredEventReplay } from './stored-event-replay';

/** Sends one event of the review area again, for somebody who waits for what becomes of it (contract section 7). */
@Injectable()
export class ReplayService {
  constructor(
    private readonly entries: ReviewReader,
    private readonly resolutions: ReviewResolutions,
    private readonly pipeline: IngestPipeline,
    private readonly stored: StoredEventReplay,
    private readonly clock: Clock,
  ) {}

  /**
   * Under the event's own id and first time of receipt; what could not be processed is processed again. Throws `not_found`,
   * `insufficient_scope`, `source_not_allowed`, `entry_not_open`, `validation_failed` where there is nothing to send, and
   * `unavailable`; the entry then stays as it was.
   */
  async replay(caller: Principal, id: string, corrected: object | undefined): Promise<ReplayResult> {
    const { tenantId, credentialId: by } = caller;
    const entry = await this.entries.get(tenantId, id);
    assertMayReplay(caller, entry, corrected);
    const found = replayable(entry, corrected);
    if ('faults' in found) throw validationFailed(found.faults);
    const at = this.clock.now().toISOString();
    const attempt: ReplayAttempt = {
      ...{ action: 'replayed', at, by },
      ...(corrected === undefined ? {} : { corrected: true }),
    };
    const result =
      'storedEventId' in found
        ? await this.stored.replay(caller, entry, found.storedEventId, attempt)
        : await this.send(caller, entry, found.submission, attempt);
    if (result.status === 'error') throwUnlessOfEvent(result);
    await this.resolutions.noteFailures(tenantId, failedReplay(entry.id, attempt, result));
    return result;
  }

  private send(
    caller: Principal,
    { id: entryId, firstSeenAt }: StoredEntry,
    submission: Submission,
    attempt: ReplayAttempt,
  ): Promise<ReplayResult> {
    const replay = { entryId, attempt, receivedAt: firstSeenAt.getTime() };
    return this.pipeline.ingestOne(caller, { ...submission, replay }, 'replay');
  }
}

/** What is wrong with the caller or with the moment is no outcome of the event. */
function throwUnlessOfEvent({ refusal: { code, message, details } }: Extract<ReplayResult, { status: 'error' }>): void {
  if (code === 'unavailable') throw unavailable();
  if (code === 'source_not_allowed') throw new DomainError(code, message, { details });
}
