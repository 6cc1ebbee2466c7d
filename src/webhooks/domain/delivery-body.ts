import type { LoggedEvent } from '../../ingest/domain/logged-event';
import { maskIdentityFields, propertySteps } from '../../platform/privacy/mask';
import type { Steps } from '../../platform/values/time-slice';

/** Bytes in UTF-8 (contract section 15). */
export const BODY_BYTES_MAX = 20_000;
/** The type of a test call. */
const TEST_TYPE = 'webhook.test';

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
export function* deliveryBody(event: LoggedEvent, { customerId, personal }: BodyOptions): Steps<string> {
  const { eventId, family, source, externalEventId, eventType, eventTypeVersion } = event;
  const properties = personal === null ? event.properties : yield* propertySteps(event.properties, personal);
  return bodyOfRecord({
    ...{ eventId, family, source, externalEventId, eventType, eventTypeVersion },
    occurredAt: event.occurredAt.toISOString(),
    receivedAt: event.receivedAt.toISOString(),
    profileId: customerId,
    identity: personal === null ? event.identity : maskIdentityFields(event.identity),
    properties,
  });
}

/**
 * The body of a call, by the advice of Standard Webhooks: `{type, timestamp, data}`; `data` is the event's record. A
 * record over 20 KB comes without identity and properties, with `isReference: true`.
 */
export function bodyOfRecord({ identity, properties, ...reference }: DeliveredRecord): string {
  const whole = bodyText(reference, { ...reference, identity, properties });
  if (Buffer.byteLength(whole) <= BODY_BYTES_MAX) return whole;
  return bodyText(reference, { ...reference, isReference: true });
}

/** The body of a test call; it holds nothing of any customer. */
export function testBody(endpointId: string, at: Date): string {
  return JSON.stringify({ type: TEST_TYPE, timestamp: at.toISOString(), data: { webhookId: endpointId } });
}

/** The type has a prefix of its own, so that no event type of a client looks like another kind of call. */
function bodyText({ eventType, occurredAt }: Pick<DeliveredRecord, 'eventType' | 'occurredAt'>, data: object): string {
  return JSON.stringify({ type: `event.${eventType}`, timestamp: occurredAt, data });
}
