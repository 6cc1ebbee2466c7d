import type { ReplayAttempt } from '../../review/domain/resolution';
import type { FaultBudget } from './fault-budget';

/** The two ingest families (contract section 3); they share one name space of event ids. */
export const EVENT_FAMILIES = ['external', 'cdp'] as const;
export type EventFamily = (typeof EVENT_FAMILIES)[number];

/** One JSON value that a client sent as an event. Nothing of it is checked yet. */
export interface Submission {
  readonly family: EventFamily;
  readonly value: unknown;
  /** Bytes of its JSON text, about. */
  readonly bytes: number;
  /** Its JSON text, as it came where that is known; put together only when something is wrong with it. */
  readonly text: () => string;
  /** The faults that it may list, shared with the others of its batch; absent for one that is answered by itself. */
  readonly faults?: FaultBudget;
  /** Where it was kept, when it is sent again from the review area. */
  readonly replay?: Replay;
}

/** The review entry that a submission comes from. */
export interface Replay {
  readonly entryId: string;
  readonly attempt: ReplayAttempt;
  /** When it was first received; epoch milliseconds. */
  readonly receivedAt: number;
}
