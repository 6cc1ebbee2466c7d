import { Injectable } from '@nestjs/common';
import type { Principal } from '../platform/auth/principal';
import { Clock } from '../platform/clock/clock';
import { newId } from '../platform/ids/ids';
import type { Weighed } from '../platform/lane/lane';
import type { Problem } from '../review/domain/review-entry';
import { ReviewService } from '../review/review.service';
import { contentHashOf } from './domain/content-hash';
import { eventIdOf } from './domain/event-id';
import type { CheckedEvent, Refusal, TakenEvent } from './domain/incoming-event';
import { isClockSkewed, refusalInTheLane, refuseSource } from './domain/judge';
import type { IngestResult, Outcome, WarningReason } from './domain/outcome';
import { refusalProblem } from './domain/refusal-problem';
import { warningProblem } from './domain/warning-entry';
import { IngestLane } from './ingest-lane';
import { IngestPreview } from './ingest-preview';
import type { IngestWork } from './ingest-transaction';
import { ToldDeprecations } from './told-deprecations';

/** An event on its way: what was sent, and either the work that it makes or why it makes none. */
interface Judged {
  readonly checked: CheckedEvent;
  readonly work?: IngestWork;
  readonly refusal?: Refusal;
}

export interface IngestOptions {
  /** Answers as the live call would, and writes nothing. */
  readonly dryRun: boolean;
}

/** Takes events, each exactly once (contract section 3). */
@Injectable()
export class IngestService {
  private readonly toldDeprecations = new ToldDeprecations();

  constructor(
    private readonly lane: IngestLane,
    private readonly preview: IngestPreview,
    private readonly review: ReviewService,
    private readonly clock: Clock,
  ) {}

  /** Takes one event. Resolves after the commit that stored it, or that kept its refusal. */
  async ingest(caller: Principal, checked: CheckedEvent, { dryRun }: IngestOptions): Promise<IngestResult> {
    const judged = this.judge(caller, checked);
    await this.keepRefusals(caller, [judged], dryRun);
    const outcomes = judged.work === undefined ? [] : [await this.settleOne(judged, judged.work, dryRun)];
    const [result] = await this.describe(caller, [judged], outcomes, dryRun);
    if (result === undefined) throw new Error('An event was left without a result');
    return result;
  }

  /** Takes the events of a batch request, each by itself: one result an event, in their order. */
  async ingestAll(
    caller: Principal,
    checked: readonly CheckedEvent[],
    { dryRun }: IngestOptions,
  ): Promise<IngestResult[]> {
    const judged = checked.map((event) => this.judge(caller, event));
    // Before anything is stored, so that a corrected copy in the same batch finds the refusal that it closes.
    await this.keepRefusals(caller, judged, dryRun);
    const works = judged.flatMap(({ checked: { sent }, work }): Weighed<IngestWork>[] =>
      work === undefined ? [] : [{ work, bytes: sent.bytes }],
    );
    const outcomes = dryRun
      ? await this.preview.settle(works.map(({ work }) => work))
      : await this.lane.storeAll(caller.tenantId, works);
    return this.describe(caller, judged, outcomes, dryRun);
  }

  private async settleOne({ checked }: Judged, work: IngestWork, dryRun: boolean): Promise<Outcome | undefined> {
    if (!dryRun) return this.lane.store({ work, bytes: checked.sent.bytes });
    return (await this.preview.settle([work]))[0];
  }

  private judge(caller: Principal, checked: CheckedEvent): Judged {
    const refused = refuseSource(sourceOf(checked), caller.sources);
    if (refused !== undefined) return { checked, refusal: refused };
    if ('refusal' in checked.checked) return { checked, refusal: checked.checked.refusal };
    return { checked, work: this.workOf(caller.tenantId, checked.checked, checked.sent.text) };
  }

  private workOf(tenantId: string, taken: TakenEvent, text: () => string): IngestWork {
    const { event } = taken;
    const receivedAt = this.clock.now().getTime();
    return {
      tenantId,
      event,
      eventId: eventIdOf(tenantId, event.source, event.externalEventId),
      contentHash: contentHashOf(event),
      receivedAt,
      newProfileId: newId(),
      text,
      warnings: this.warningsOf(tenantId, taken, receivedAt),
    };
  }

  private warningsOf(tenantId: string, { event, isDeprecated }: TakenEvent, receivedAt: number): WarningReason[] {
    const isNews = isDeprecated === true && !this.toldDeprecations.has(tenantId, event.eventType, receivedAt);
    return [
      ...(isClockSkewed(event.occurredAt, receivedAt) ? (['clock_skew'] as const) : []),
      ...(isNews ? (['event_type_deprecated'] as const) : []),
    ];
  }

  private async keepRefusals({ tenantId }: Principal, judged: readonly Judged[], dryRun: boolean): Promise<void> {
    if (dryRun) return;
    const at = this.clock.now().getTime();
    const problems = judged.flatMap(({ checked, refusal }) =>
      refusal === undefined ? [] : [refusalProblem(tenantId, checked, refusal, at)],
    );
    await this.review.record(tenantId, problems);
  }

  /** Puts outcomes into words, and keeps what went wrong on the way into the database before anybody is told. */
  private async describe(
    { tenantId }: Principal,
    judged: readonly Judged[],
    outcomes: readonly (Outcome | undefined)[],
    dryRun: boolean,
  ): Promise<IngestResult[]> {
    const at = this.clock.now().getTime();
    const problems: Problem[] = [];
    let settled = 0;
    const results = judged.map(({ checked, work, refusal }): IngestResult => {
      if (refusal !== undefined) return { status: 'error', refusal };
      const outcome = work === undefined ? undefined : outcomes[settled++];
      const refused = refusalOf(outcome);
      if (refused !== undefined) {
        // What could only not be stored now is no problem of the event; its sender sends it again.
        if (refused.code !== 'unavailable') problems.push(refusalProblem(tenantId, checked, refused, at));
        return { status: 'error', refusal: refused };
      }
      if (work === undefined || outcome === undefined || outcome.status === 'refused') {
        throw new Error('An event was left without an outcome');
      }
      if (!dryRun && outcome.warnings.includes('event_type_deprecated')) this.toldDeprecations.add(work);
      if (outcome.copy) problems.push(...outcome.warnings.map((reason) => warningProblem(work, reason)));
      return { status: outcome.status, eventId: work.eventId };
    });
    if (!dryRun) await this.review.record(tenantId, problems);
    return results;
  }
}

function sourceOf({ sent: { value } }: CheckedEvent): unknown {
  return typeof value === 'object' && value !== null && 'source' in value ? value.source : undefined;
}

function refusalOf(outcome: Outcome | undefined): Refusal | undefined {
  return outcome?.status === 'refused' ? refusalInTheLane(outcome.code) : undefined;
}
