import type { EventFamily } from './submission';

/** A stored event as the log has it, unmasked. */
export interface LoggedEvent {
  readonly eventId: string;
  readonly family: EventFamily;
  readonly source: string;
  readonly externalEventId: string;
  readonly eventType: string;
  /** Null in the external-events family. */
  readonly eventTypeVersion: number | null;
  readonly occurredAt: Date;
  readonly receivedAt: Date;
  /** The own profile of its strongest identifier. */
  readonly profileId: string;
  readonly identity: Readonly<Record<string, string>>;
  readonly properties: Readonly<Record<string, unknown>>;
}
