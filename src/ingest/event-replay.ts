import { Injectable } from '@nestjs/common';
import { Clock } from '../platform/values/clock';
import type { ReplayAttempt } from '../review/domain/resolution';
import { ReviewService } from '../review/review.service';
import type { CheckedEvent } from './domain/incoming-event';
import type { IngestResult, Outcome } from './domain/outcome';
import { IngestGroupCommit } from './store/event-store';
import { judgeEvent, resultsOf, warningsOfCopy, worksOf, type Judged, type Sender } from './judged-event';
import { RefusedCopies } from './store/refused-copies';

/** An event that the review area has kept, checked anew. */
export interface EventToReplay {
  readonly checked: CheckedEvent;
  /** When it was first received; epoch milliseconds. */
  readonly receivedAt: number;
  readonly replay: { readonly entryId: string; readonly attempt: ReplayAttempt };
}

/**
 * Takes events again that were refused before (contract section 7), on the way of every event and each exactly once. The
 * transaction that stores an event closes its review entry: after a kill both have happened or neither. A refusal is
 * answered and not kept anew: it is in the review area already.
 */
@Injectable()
export class EventReplay {
  constructor(
    private readonly lane: IngestGroupCommit,
    private readonly review: ReviewService,
    private readonly copies: RefusedCopies,
    private readonly clock: Clock,
  ) {}

  /** For somebody who waits: goes before what is sent in bulk. */
  async replay(sender: Sender, event: EventToReplay): Promise<IngestResult> {
    const judged = await this.judgeAgain(sender, [event]);
    const outcomes = await Promise.all(worksOf(judged).map((work) => this.lane.store(work)));
    const [result] = await this.describe(sender, judged, outcomes);
    if (result === undefined) throw new Error('An event was left without a result');
    return result;
  }

  /** For many at once: one result an event, in their order. */
  async replayAll(sender: Sender, events: readonly EventToReplay[]): Promise<IngestResult[]> {
    const judged = await this.judgeAgain(sender, events);
    return this.describe(sender, judged, await this.lane.storeAll(sender.tenantId, worksOf(judged)));
  }

  private async judgeAgain(sender: Sender, events: readonly EventToReplay[]): Promise<Judged[]> {
    const judged = events.map(({ checked, receivedAt }) => judgeEvent(sender, checked, receivedAt));
    const known = await this.copies.recognize(sender, judged, this.clock.now().getTime());
    return known.map(({ work, ...rest }, index): Judged => {
      const event = events[index];
      return work === undefined || event === undefined ? rest : { ...rest, work: { ...work, replay: event.replay } };
    });
  }

  private async describe(
    sender: Sender,
    judged: readonly Judged[],
    outcomes: readonly Outcome[],
  ): Promise<IngestResult[]> {
    const results = resultsOf(judged, outcomes);
    const at = this.clock.now().getTime();
    const problems = results.flatMap((result) => warningsOfCopy(sender, result, at));
    await this.review.record(sender.tenantId, problems);
    return results.map(({ result }) => result);
  }
}
