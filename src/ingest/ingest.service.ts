import { Injectable } from '@nestjs/common';
import { inTurns } from '../platform/async/in-turns';
import type { Principal } from '../platform/auth/principal';
import { Clock } from '../platform/values/clock';
import type { Problem } from '../review/domain/review-entry';
import { ReviewService } from '../review/review.service';
import type { CheckedEvent } from './domain/incoming-event';
import type { IngestResult, Outcome } from './domain/outcome';
import { refusalProblem } from './domain/refusal-problem';
import { IngestGroupCommit } from './store/event-store';
import { IngestPreview } from './store/store-preview';
import type { IngestWork } from './store/store-results';
import { judgeEvent, resultsOf, warningsOfCopy, worksOf, type Judged } from './judged-event';
import { laterCopies, RefusedCopies, settleLaterCopies } from './store/refused-copies';
import { RecentDeprecationWarnings } from './recent-deprecation-warnings';

export interface IngestOptions {
  /** Answers as the live call would, and writes nothing. */
  readonly dryRun: boolean;
}

/** Takes events, each exactly once (contract section 3). */
@Injectable()
export class IngestService {
  private readonly toldDeprecations = new RecentDeprecationWarnings();

  constructor(
    private readonly lane: IngestGroupCommit,
    private readonly preview: IngestPreview,
    private readonly copies: RefusedCopies,
    private readonly review: ReviewService,
    private readonly clock: Clock,
  ) {}

  /** Takes one event. Resolves after the commit that stored it, or that kept its refusal. */
  async ingest(caller: Principal, checked: CheckedEvent, { dryRun }: IngestOptions): Promise<IngestResult> {
    const now = this.clock.now().getTime();
    const sent = judgeEvent(caller, checked, now, this.toldDeprecations);
    const judged = sent.refusal === undefined ? sent : await this.copyOrRefusal(caller, sent, now, dryRun);
    const outcomes = judged.work === undefined ? [] : [await this.settleOne(judged, judged.work, dryRun)];
    const { results, problems } = this.inWords(caller, [judged], outcomes, dryRun);
    // Before anybody is told. Mostly nothing has gone wrong, and to wait for nothing costs as much as a check.
    if (problems.length > 0) await this.review.record(caller.tenantId, problems);
    const [result] = results;
    if (result === undefined) throw new Error('An event was left without a result');
    return result;
  }

  /** Takes the events of a batch request, each by itself: one result an event, in their order. */
  async ingestAll(
    caller: Principal,
    checked: readonly CheckedEvent[],
    { dryRun }: IngestOptions,
  ): Promise<IngestResult[]> {
    const now = this.clock.now().getTime();
    const judging = inTurns(
      checked,
      ({ sent }) => sent.bytes,
      (event) => judgeEvent(caller, event, now, this.toldDeprecations),
    );
    const sent = judging instanceof Promise ? await judging : judging;
    const known = await this.copies.recognize(caller, sent, now);
    const later = laterCopies(caller.tenantId, known);
    // Before anything is stored, so that a corrected copy in the same batch finds the refusal that it closes.
    await this.keepRefusals(
      caller,
      known.filter((each) => !later.has(each)),
      dryRun,
    );
    const works = worksOf(known);
    const outcomes = dryRun
      ? await this.preview.settle(works.map(({ work }) => work))
      : await this.lane.storeAll(caller.tenantId, works);
    const judged = settleLaterCopies(caller.tenantId, known, later, outcomes);
    await this.keepRefusals(
      caller,
      judged.filter((each) => later.has(each)),
      dryRun,
    );
    const { results, problems } = this.inWords(caller, judged, outcomes, dryRun);
    await this.review.record(caller.tenantId, problems);
    return results;
  }

  private async copyOrRefusal(caller: Principal, refused: Judged, now: number, dryRun: boolean): Promise<Judged> {
    const [judged = refused] = await this.copies.recognize(caller, [refused], now);
    await this.keepRefusals(caller, [judged], dryRun);
    return judged;
  }

  private settleOne({ checked }: Judged, work: IngestWork, dryRun: boolean): Promise<Outcome | undefined> {
    if (!dryRun) return this.lane.store({ work, bytes: checked.sent.bytes });
    return this.preview.settle([work]).then(([outcome]) => outcome);
  }

  private async keepRefusals({ tenantId }: Principal, judged: readonly Judged[], dryRun: boolean): Promise<void> {
    if (dryRun) return;
    const at = this.clock.now().getTime();
    const problems = judged.flatMap(({ checked, refusal }) =>
      refusal === undefined ? [] : [refusalProblem(tenantId, checked, refusal, at)],
    );
    if (problems.length > 0) await this.review.record(tenantId, problems);
  }

  /** Puts outcomes into words, with what went wrong on the way into the database and is to be kept. */
  private inWords(
    caller: Principal,
    judged: readonly Judged[],
    outcomes: readonly (Outcome | undefined)[],
    dryRun: boolean,
  ): { results: IngestResult[]; problems: Problem[] } {
    const at = this.clock.now().getTime();
    const problems: Problem[] = [];
    const results = resultsOf(judged, outcomes).map((settled) => {
      const {
        judged: { checked, work },
        result,
        outcome,
      } = settled;
      // What could only not be stored now is no problem of the event; its sender sends it again.
      if (result.status === 'error' && work !== undefined && result.refusal.code !== 'unavailable') {
        problems.push(refusalProblem(caller.tenantId, checked, result.refusal, at));
      }
      if (work !== undefined && !dryRun && isDeprecationTold(outcome)) this.toldDeprecations.add(work);
      problems.push(...warningsOfCopy(caller, settled, at));
      return result;
    });
    return { results, problems: dryRun ? [] : problems };
  }
}

/** The warning of the day is stored with this event, or has been before. */
function isDeprecationTold(outcome: Outcome | undefined): boolean {
  return outcome !== undefined && outcome.status !== 'refused' && outcome.warnings.includes('event_type_deprecated');
}
