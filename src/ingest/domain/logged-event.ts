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

/** The same with what tells how far it has come. */
export interface ListedEvent extends LoggedEvent {
  /** The entry that it left the queue with, together with others; null: it had one of its own. */
  readonly queueBundleId: string | null;
}
