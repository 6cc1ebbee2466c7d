import { Injectable } from '@nestjs/common';
import type { Sender } from '../ingest/domain/checked-event';
import { isUnavailable, type IngestResult } from '../ingest/domain/ingest-result';
import type { Submission } from '../ingest/domain/submission';
import { IngestPipeline } from '../ingest/pipeline';
import { AnsweredEvents, type AnswerWatcher } from '../ingest/answered-events';
import { Clock } from '../platform/values/clock';
import { unavailable } from '../platform/errors/unavailable';
import { describeFaults } from '../platform/errors/describe-faults';
import { DomainError } from '../platform/errors/domain-error';
import type { StoredEntry } from '../review/domain/review-entry';
import type { ReplayAttempt } from '../review/domain/resolution';
import { slicesBySize } from '../review/domain/slices-by-size';
import { ReviewReader } from '../review/review-reader';
import { ReviewResolutions } from '../review/review-resolutions';
import { COUNTED_AS, replayStep, type ReplayCounts } from './domain/bulk-replay';
import { failedReplay, type ReplayResult } from './domain/replay-result';
import { replayable } from './domain/replayable';
import type { ReviewReplay } from './entities/review-replay.entity';
import { StoredEventReplay } from './stored-event-replay';

/**
 * Bytes of payloads that are sent at a time. More of them could take longer than the transaction of their job may wait, which
 * PostgreSQL then ends. A single event has at most 256 KiB.
 */
const STEP_BYTES_MAX = 1024 * 1024;

/** Sends entries of a bulk replay again. */
@Injectable()
export class ReplayPieces {
  constructor(
    private readonly entries: ReviewReader,
    private readonly resolutions: ReviewResolutions,
    private readonly pipeline: IngestPipeline,
    private readonly stored: StoredEventReplay,
    private readonly answered: AnsweredEvents,
    private readonly clock: Clock,
  ) {}

  /** The first of these entries, as many as one step sends: one at least. */
  async firstStep(tenantId: string, ids: readonly string[]): Promise<readonly string[]> {
    const sizes = new Map((await this.entries.sizesOf(tenantId, ids)).map(({ id, bytes }) => [id, bytes]));
    const sized = ids.map((id) => ({ id, bytes: sizes.get(id) ?? 0 }));
    return slicesBySize(sized, STEP_BYTES_MAX)[0] ?? [];
  }

  /**
   * Sends the entries of a step, each once, also if it is called again. Throws `unavailable` if the caller must call it
   * again.
   */
  async replay(replay: ReviewReplay, ids: readonly string[]): Promise<ReplayCounts> {
    const { tenantId, id: jobId } = replay;
    const found = new Map((await this.entries.getAll(tenantId, ids)).map((entry) => [entry.id, entry]));
    const steps = ids.map((id) => replayStep(found.get(id), jobId));
    const counted = steps.flatMap((step) => ('counted' in step ? [step.counted] : []));
    const results = await this.send(
      replay,
      steps.flatMap((step) => ('send' in step ? [step.send] : [])),
    );
    const counts = { accepted: 0, duplicate: 0, failed: 0 };
    for (const each of [...counted, ...results.map(({ status }) => COUNTED_AS[status])]) counts[each] += 1;
    return counts;
  }

  private async send(replay: ReviewReplay, entries: readonly StoredEntry[]): Promise<ReplayResult[]> {
    const { tenantId, id: jobId, createdBy: by } = replay;
    const sources = replay.sources === null ? null : new Set(replay.sources);
    const attempt: ReplayAttempt = { action: 'replayed', at: this.clock.now().toISOString(), by, jobId };
    const sender = { tenantId, sources };
    const prepared = await Promise.all(entries.map((entry) => this.prepare(sender, entry, attempt)));
    const submissions = prepared.flatMap((each) => ('submission' in each ? [each.submission] : []));
    const sent = await this.pipeline.ingest(sender, submissions, 'replay');
    const watcher = this.answered.watcherOf(tenantId);
    if (watcher !== undefined) submissions.forEach((submission, index) => watch(watcher, submission, sent[index]));
    let next = 0;
    const results = prepared.map((each) => ('submission' in each ? sent[next++] : each.result) ?? NO_RESULT);
    const byEntry = results.map((result, index) => ({ result, id: entries[index]?.id ?? '' }));
    const failures = byEntry.flatMap(({ result, id }) =>
      isUnavailable(result) ? [] : failedReplay(id, attempt, result),
    );
    await this.resolutions.noteFailures(tenantId, failures);
    if (results.some(isUnavailable)) throw unavailable();
    return results;
  }

  /** Checks the event of an entry. Processes it at once if it is stored already. */
  private async prepare(
    sender: Sender,
    entry: StoredEntry,
    attempt: ReplayAttempt,
  ): Promise<{ submission: Submission } | { result: ReplayResult }> {
    const found = replayable(entry, undefined);
    if ('faults' in found) {
      const { faults } = found;
      const refusal = { code: 'validation_failed', message: describeFaults(faults), details: faults } as const;
      return { result: { status: 'error', refusal } };
    }
    if ('storedEventId' in found) return { result: await this.process(sender, entry, found.storedEventId, attempt) };
    const replay = { entryId: entry.id, attempt, receivedAt: entry.firstSeenAt.getTime() };
    return { submission: { ...found.submission, replay } };
  }

  private async process(
    sender: Sender,
    entry: StoredEntry,
    eventId: string,
    attempt: ReplayAttempt,
  ): Promise<ReplayResult> {
    try {
      return await this.stored.replay(sender, entry, eventId, attempt);
    } catch (error) {
      if (error instanceof DomainError && error.code === 'unavailable') return NO_RESULT;
      throw error;
    }
  }
}

/** Those that must be sent again are watched then. */
function watch(watcher: AnswerWatcher, { family, value, replay }: Submission, result: IngestResult | undefined): void {
  if (result === undefined || replay === undefined || isUnavailable(result)) return;
  watcher({ family, value, result, reviewed: { entryId: replay.entryId } });
}

const NO_RESULT: ReplayResult = {
  status: 'error',
  refusal: { code: 'unavailable', message: 'The event was left without a result.', details: [] },
};
