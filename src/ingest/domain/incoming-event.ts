import type { ErrorCode } from '../../platform/errors/error-codes';
import type { Fault } from '../../platform/errors/fault';
import type { FaultBudget } from '../parse/fault-budget';
import type { Identifier } from '../../identity/domain/identifier';

/** The two ingest families (contract section 3); they share one name space of event ids. */
export const EVENT_FAMILIES = ['external', 'cdp'] as const;
export type EventFamily = (typeof EVENT_FAMILIES)[number];

/** An event that is right in itself: every field checked, the identity normalised. What both families become. */
export interface IncomingEvent {
  readonly family: EventFamily;
  readonly source: string;
  readonly externalEventId: string;
  readonly eventType: string;
  /** The version of the contract it was checked against; null in the external-events family. */
  readonly eventTypeVersion: number | null;
  /** Epoch milliseconds; null means the time of receipt. */
  readonly occurredAt: number | null;
  /** Normalised, strongest first; at least one. */
  readonly identifiers: readonly Identifier[];
  /** The identity as the client wrote it. */
  readonly identity: Readonly<Record<string, string>>;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Why an event is not taken, in the words of the answer and of the review area. */
export interface Refusal {
  readonly code: Extract<
    ErrorCode,
    'validation_failed' | 'source_not_allowed' | 'identity_conflict' | 'profile_erased' | 'unavailable'
  >;
  readonly message: string;
  readonly details: readonly Fault[];
}

/** One JSON value that a client sent as an event. */
export interface SentEvent {
  readonly value: unknown;
  /** Bytes of its JSON text, about. */
  readonly bytes: number;
  /** Its JSON text, as it came where that is known; put together only when something is wrong with it. */
  readonly text: () => string;
  /** What its faults share with those of other events in one answer; absent for one that is answered by itself. */
  readonly faults?: FaultBudget;
}

/** What checking makes of it: an event, or a refusal. */
export interface CheckedEvent {
  readonly family: EventFamily;
  readonly sent: SentEvent;
  readonly checked: TakenEvent | RefusedEvent;
}

export interface RefusedEvent {
  readonly refusal: Refusal;
  /** What it says, when only the contract of its type is against it. */
  readonly event?: IncomingEvent;
}

export interface TakenEvent {
  readonly event: IncomingEvent;
  /** Its registered type is deprecated: it is taken, and somebody should know (contract section 4). */
  readonly isDeprecated?: boolean;
}
