import { Injectable } from '@nestjs/common';
import type { EventFamily } from '../domain/submission';

/** Which events were answered; names are undefined where they are not usable text. */
export interface AnsweredEvents {
  readonly tenantId: string;
  readonly family: EventFamily;
  readonly source: string | undefined;
  readonly eventType: string | undefined;
}

export type OutcomeListener = (answered: AnsweredEvents, outcome: 'duplicate' | 'refused', events: number) => void;

/**
 * Tells one feature of events that were answered and left nothing in the event log: duplicates and refusals. Dry runs,
 * replays and calls of the console are not among them.
 */
@Injectable()
export class IngestOutcomes {
  private listener: OutcomeListener | undefined;

  /** `listener` must take microseconds: it is called before the answer leaves. */
  listen(listener: OutcomeListener): void {
    this.listener = listener;
  }

  notify(answered: AnsweredEvents, outcome: 'duplicate' | 'refused', events: number): void {
    this.listener?.(answered, outcome, events);
  }
}
