import type { Identifier } from '../../identity/domain/identifier';
import type { Refusal, WarningReason } from './ingest-result';
import type { EventFamily, Submission } from './submission';

/** Contract section 3; characters are code points. Long enough for every id seen in the field, short enough for an index. */
export const SOURCE_CHARACTERS_MAX = 128;
export const EVENT_ID_CHARACTERS_MAX = 256;
export const EVENT_TYPE_CHARACTERS_MAX = 128;
/** Before normalisation; the normalised value has its own limit of 256. */
export const IDENTITY_CHARACTERS_MAX = 1_024;
/** An ISO 8601 time with nine decimals has 35. */
export const TIMESTAMP_CHARACTERS_MAX = 64;

/** What an event says, in either family: every field checked, the identity normalised. */
export interface EventFields {
  readonly family: EventFamily;
  readonly source: string;
  readonly externalEventId: string;
  readonly eventType: string;
  /** The version of the event type it was checked against; null in the external-events family. */
  readonly eventTypeVersion: number | null;
  /** Epoch milliseconds; null means the time of receipt. */
  readonly occurredAt: number | null;
  /** Normalised, strongest first; at least one. */
  readonly identifiers: readonly Identifier[];
  /** The identity as the client wrote it. */
  readonly identity: Readonly<Record<string, string>>;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** What a family makes of a submission: its fields, or why it is refused. */
export type ParsedEvent =
  | {
      readonly fields: EventFields;
      readonly refusal?: undefined;
      /** Its registered type is deprecated: the event is taken with a warning (contract section 4). */
      readonly isDeprecated?: boolean;
    }
  | {
      readonly refusal: Refusal;
      /** What it says, when it is well-formed and only the contract of its type is against it. */
      readonly fields?: EventFields;
    };

/** A well-formed event of a workspace, under the id that deduplicates it. */
export interface Event extends EventFields {
  readonly tenantId: string;
  readonly eventId: string;
  /** Tells a repetition from another fact under the same id (`deduplication.ts`). */
  readonly contentHash: string;
  /** Epoch milliseconds, as this node knows the time; what is stored is the database's time. */
  readonly receivedAt: number;
  /** What is odd about the event itself, whichever customer it belongs to. */
  readonly warnings: readonly WarningReason[];
  readonly submission: Submission;
}

/** An event whose customer is known. */
export interface ResolvedEvent {
  readonly event: Event;
  /** The own profile of its strongest identifier; a merge or its undoing never has to touch it. */
  readonly profileId: string;
  /** The customer at the time of receipt, whose events are processed in order. */
  readonly rootId: string;
  /** The entry of the queue that it shares with others of its commit; null: it gets one of its own. */
  readonly queueBundleId: string | null;
}

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

/** Whether an event shares its entry of the queue. */
export function isBundled({ queueBundleId }: ResolvedEvent): boolean {
  return queueBundleId !== null;
}

/** A type of events of a workspace. */
export interface EventKind {
  readonly tenantId: string;
  readonly eventType: string;
}

/** One text for one kind: a workspace is a UUID, so that no two share a name. */
export function kindName({ tenantId, eventType }: EventKind): string {
  return `${tenantId}/${eventType}`;
}

/** Each kind once. */
export function distinctKinds(kinds: readonly EventKind[]): EventKind[] {
  return [...new Map(kinds.map((kind) => [kindName(kind), kind])).values()];
}

/** The kinds of the events that share an entry of the queue; none of them may have subscribers. */
export function kindsInBundles(events: readonly ResolvedEvent[]): EventKind[] {
  return distinctKinds(events.filter(isBundled).map(({ event }) => event));
}
