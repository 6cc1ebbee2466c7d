import { Injectable } from '@nestjs/common';
import { inTurns } from '../platform/async/byte-turns';
import { Clock } from '../platform/values/clock';
import { isObject } from '../platform/values/json/json-values';
import { checkEvent, eventsToStore, resultsOf, type CheckedEvent, type Sender } from './domain/checked-event';
import type { Event } from './domain/event';
import { isUnavailable, type IngestResult, type Refusal } from './domain/ingest-result';
import { differingCopyProblem, refusalProblem, warningProblem } from './domain/review-problems';
import type { Submission } from './domain/submission';
import { EventParsers } from './parse/event-parsers';
import { ProblemRecorder, RecentDeprecationWarnings, type FoundProblem } from './problem-recorder';
import { DryRunStore } from './store/dry-run-store';
import { EventStore } from './store/event-store';
import { answerAsDuplicates, refusedBehindEvents, StoredCopies } from './store/stored-copies';

/**
 * - `live`: from a client.
 * - `replay`: again from the review area. A refusal is answered and not recorded again; the transaction that stores an
 *   event closes its review entry.
 * - `dry_run`: answers as the live call would, and writes nothing.
 */
export type IngestMode = 'live' | 'replay' | 'dry_run';

/** Checked submissions whose final refusals are recorded. */
interface RefusalsRecorded {
  readonly checked: readonly CheckedEvent[];
  /** Refused ones whose answer depends on what becomes of another event of the batch. */
  readonly undecided: ReadonlySet<CheckedEvent>;
}

const NONE_UNDECIDED: ReadonlySet<CheckedEvent> = new Set();
/** What an event counts at least in turns of the event loop: finding many faults in a small one takes as long. */
const CHECK_BYTES_MIN = 1024;

/**
 * The way of every event, of both families, from a client, from the review area, or on trial (contract section 3):
 *
 *     parse ─► authorize source ─► derive event id ─► record refusals ─► store ─► record warnings ─► reply
 *
 * Results are values, one for each submission, in their order. A result is there after the commit that stored the event,
 * or that recorded its refusal: refusals are recorded before the reply, and before anything is stored, so that a corrected
 * copy in the same batch finds the refusal that it closes.
 */
@Injectable()
export class IngestPipeline {
  private readonly deprecations = new RecentDeprecationWarnings();

  constructor(
    private readonly parsers: EventParsers,
    private readonly copies: StoredCopies,
    private readonly events: EventStore,
    private readonly dryRuns: DryRunStore,
    private readonly problems: ProblemRecorder,
    private readonly clock: Clock,
  ) {}

  /** Takes one event, for a client that waits for it: it is stored before the events of batches. */
  async ingestOne(sender: Sender, submission: Submission, mode: IngestMode): Promise<IngestResult> {
    const store = async ([event]: readonly Event[]) => (event === undefined ? [] : [await this.events.storeOne(event)]);
    const [result] = await this.run(sender, [submission], mode, store);
    if (result === undefined) throw new Error('A submission was left without a result');
    return result;
  }

  /** Takes the events of a batch, each by itself. */
  ingest(sender: Sender, submissions: readonly Submission[], mode: IngestMode): Promise<readonly IngestResult[]> {
    return this.run(sender, submissions, mode, (events) => this.events.store(sender.tenantId, events));
  }

  private async run(
    sender: Sender,
    submissions: readonly Submission[],
    mode: IngestMode,
    store: (events: readonly Event[]) => Promise<readonly IngestResult[]>,
  ): Promise<readonly IngestResult[]> {
    const checking = this.check(sender, submissions);
    const { checked, undecided } = await this.recordRefusals(
      sender,
      checking instanceof Promise ? await checking : checking,
      mode,
    );
    const events = eventsToStore(checked);
    const stored = await (mode === 'dry_run' ? this.dryRuns.store(events) : store(events));
    const results = answerAsDuplicates(sender.tenantId, checked, undecided, resultsOf(checked, stored));
    await this.recordAfterStoring(sender, checked, undecided, results, mode);
    return results;
  }

  /** Parses, authorizes the source and derives the event id, in turns of the event loop. */
  private check(
    sender: Sender,
    submissions: readonly Submission[],
  ): readonly CheckedEvent[] | Promise<readonly CheckedEvent[]> {
    const now = this.clock.now().getTime();
    const isWarnedToday = this.deprecations.has.bind(this.deprecations);
    return inTurns(
      submissions,
      ({ bytes }) => Math.max(bytes, CHECK_BYTES_MIN),
      (submission) => {
        const receivedAt = submission.replay?.receivedAt ?? now;
        const parsed = this.parsers.parse(sender.tenantId, submission);
        return parsed instanceof Promise
          ? parsed.then((found) => checkEvent(sender, submission, found, receivedAt, isWarnedToday))
          : checkEvent(sender, submission, parsed, receivedAt, isWarnedToday);
      },
    );
  }

  /**
   * Records the refusals that are final. Two kinds are not: that of a copy of a stored event, which is answered as a duplicate;
   * and that of an event behind another of the same id in the batch, which is one if the other is stored (`undecided`).
   */
  private async recordRefusals(
    sender: Sender,
    all: readonly CheckedEvent[],
    mode: IngestMode,
  ): Promise<RefusalsRecorded> {
    if (all.every(({ refusal }) => refusal === undefined)) return { checked: all, undecided: NONE_UNDECIDED };
    const checked = await this.copies.recognize(sender, all);
    const undecided = refusedBehindEvents(sender.tenantId, checked);
    const at = this.clock.now().getTime();
    const found = checked.flatMap((each): FoundProblem[] =>
      each.refusal === undefined || undecided.has(each)
        ? []
        : [foundRefusal(sender.tenantId, each.submission, each.refusal, at)],
    );
    if (mode === 'live') await this.problems.record(sender.tenantId, found);
    return { checked, undecided };
  }

  /** Refusals that were decided by storing, and warnings that no transaction has recorded. */
  private async recordAfterStoring(
    { tenantId }: Sender,
    checked: readonly CheckedEvent[],
    undecided: ReadonlySet<CheckedEvent>,
    results: readonly IngestResult[],
    mode: IngestMode,
  ): Promise<void> {
    if (mode === 'dry_run') return;
    const at = this.clock.now().getTime();
    const found = checked.flatMap((each, index): FoundProblem[] => {
      const { submission, event, refusal } = each;
      const result = results[index];
      if (result === undefined) return [];
      if (result.status === 'error') {
        const isNew = mode === 'live' && (refusal === undefined || undecided.has(each));
        return isNew && !isUnavailable(result) ? [foundRefusal(tenantId, submission, result.refusal, at)] : [];
      }
      if (event !== undefined && result.warnings.includes('event_type_deprecated')) this.deprecations.add(event);
      if (result.hasUnrecordedWarnings !== true) return [];
      return result.warnings.map((reason) => ({
        identities: identitiesOf(submission),
        copyOf: result.eventId,
        describe: (namesErased) =>
          event === undefined
            ? differingCopyProblem(tenantId, submission, result, at, namesErased)
            : warningProblem(event, reason, result, namesErased),
      }));
    });
    await this.problems.record(tenantId, found);
  }
}

function foundRefusal(tenantId: string, submission: Submission, refusal: Refusal, at: number): FoundProblem {
  const isErased = refusal.code === 'profile_erased';
  return {
    identities: identitiesOf(submission),
    describe: (namesErased) => refusalProblem(tenantId, submission, refusal, at, namesErased || isErased),
  };
}

function identitiesOf({ value }: Submission): readonly unknown[] {
  return isObject(value) ? [value['identity']] : [];
}
