import { Injectable } from '@nestjs/common';
import type { Submission } from '../ingest/domain/submission';
import { IngestPipeline } from '../ingest/pipeline';
import { AnsweredEvents } from '../ingest/answered-events';
import type { Principal } from '../platform/auth/principal';
import { Clock } from '../platform/values/clock';
import { unavailable } from '../platform/errors/unavailable';
import { DomainError } from '../platform/errors/domain-error';
import { validationFailed } from '../platform/errors/validation-failed';
import { ReviewReader } from '../review/review-reader';
import { ReviewResolutions } from '../review/review-resolutions';
import { ReviewViews } from '../review/review-views';
import type { StoredEntry } from '../review/domain/review-entry';
import type { ReplayAttempt } from '../review/domain/resolution';
import { failedReplay, type ReplayResult } from './domain/replay-result';
import { assertMayReplay } from './domain/replay-permission';
import { replayable, storedValue, typeOfMasks } from './domain/replayable';
import type { Correction } from './domain/restore-masked';
import { StoredEventReplay } from './stored-event-replay';

/** Replays one review entry and waits for the result (contract section 7). */
@Injectable()
export class ReplayService {
  constructor(
    private readonly entries: ReviewReader,
    private readonly resolutions: ReviewResolutions,
    private readonly views: ReviewViews,
    private readonly pipeline: IngestPipeline,
    private readonly stored: StoredEventReplay,
    private readonly answered: AnsweredEvents,
    private readonly clock: Clock,
  ) {}

  /**
   * Sends the event of an entry again, under its own id and first time of receipt. Processes a stored event again if
   * its processing failed. `corrected` replaces the stored payload; its masks stand for the values that they hide.
   *
   * Throws `not_found`, `insufficient_scope`, `source_not_allowed`, `entry_not_open`, `validation_failed` if there is
   * nothing to send, and `unavailable`. The entry then stays as it was.
   */
  async replay(caller: Principal, id: string, corrected: object | undefined): Promise<ReplayResult> {
    const { tenantId, credentialId: by } = caller;
    const entry = await this.entries.get(tenantId, id);
    assertMayReplay(caller, entry, corrected);
    const correction = corrected === undefined ? undefined : await this.correctionOf(tenantId, entry, corrected);
    const found = replayable(entry, correction);
    if ('faults' in found) throw validationFailed(found.faults);
    const attempt: ReplayAttempt = {
      action: 'replayed',
      at: this.clock.now().toISOString(),
      by,
      ...(corrected === undefined ? {} : { corrected: true }),
    };
    const result =
      'storedEventId' in found
        ? await this.stored.replay(caller, entry, found.storedEventId, attempt)
        : await this.send(caller, entry, found.submission, attempt);
    if (result.status === 'error') throwIfNotOfEvent(result);
    await this.resolutions.noteFailures(tenantId, failedReplay(entry.id, attempt, result));
    return result;
  }

  private async correctionOf(tenantId: string, entry: StoredEntry, value: object): Promise<Correction> {
    const stored = storedValue(entry);
    const of = { family: entry.family, eventType: typeOfMasks(entry, value) };
    return { value, stored, shown: await this.views.maskedPayload(tenantId, of, stored) };
  }

  private async send(
    caller: Principal,
    { id: entryId, firstSeenAt }: StoredEntry,
    submission: Submission,
    attempt: ReplayAttempt,
  ): Promise<ReplayResult> {
    const replay = { entryId, attempt, receivedAt: firstSeenAt.getTime() };
    const result = await this.pipeline.ingestOne(caller, { ...submission, replay }, 'replay');
    const { family, value } = submission;
    this.answered.watcherOf(caller.tenantId)?.({ family, value, result, reviewed: { entryId } });
    return result;
  }
}

/** Throws refusals that are about the caller or the service: they are no result of the event. */
function throwIfNotOfEvent({ refusal: { code, message, details } }: Extract<ReplayResult, { status: 'error' }>): void {
  if (code === 'unavailable') throw unavailable();
  if (code === 'source_not_allowed') throw new DomainError(code, message, { details });
}
