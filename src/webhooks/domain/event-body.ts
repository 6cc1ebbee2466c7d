import type { LoggedEvent } from '../../ingest/domain/event';
import { maskIdentityFields, propertySteps } from '../../platform/privacy/mask';
import type { Steps } from '../../platform/values/time-slice';
import { bodyText } from './body-text';

/** Beside the event, what a body is made of. */
export interface BodyOptions {
  /** The customer that the event belongs to now. */
  readonly customerId: string;
  /** The properties that the event type declares as personal data; null: nothing is masked. */
  readonly personal: ReadonlySet<string> | null;
}

/** The record of an event (contract section 3) without `processing`; masked, unless the endpoint may see everything. */
export interface DeliveredRecord {
  readonly eventId: string;
  readonly family: string;
  readonly source: string;
  readonly externalEventId: string;
  readonly eventType: string;
  readonly eventTypeVersion: number | null;
  /** RFC 3339, as `receivedAt`. */
  readonly occurredAt: string;
  readonly receivedAt: string;
  readonly profileId: string;
  readonly identity: Readonly<Record<string, string>>;
  readonly properties: unknown;
}

/** The body of a call about an event: see `bodyOfRecord`. Works in steps. */
export function* eventBody(event: LoggedEvent, { customerId, personal }: BodyOptions): Steps<string> {
  const { eventId, family, source, externalEventId, eventType, eventTypeVersion } = event;
  const properties = personal === null ? event.properties : yield* propertySteps(event.properties, personal);
  return bodyOfRecord({
    eventId,
    family,
    source,
    externalEventId,
    eventType,
    eventTypeVersion,
    occurredAt: event.occurredAt.toISOString(),
    receivedAt: event.receivedAt.toISOString(),
    profileId: customerId,
    identity: personal === null ? event.identity : maskIdentityFields(event.identity),
    properties,
  });
}

/** `data` is the record of the event; a large one comes without identity and properties (`bodyText`). */
export function bodyOfRecord({ identity, properties, ...reference }: DeliveredRecord): string {
  const { eventType, occurredAt } = reference;
  return bodyText({ type: `event.${eventType}`, timestamp: occurredAt }, reference, { identity, properties });
}
