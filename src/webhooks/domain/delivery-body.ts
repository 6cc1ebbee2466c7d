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

/**
 * The body of a call, by the advice of Standard Webhooks: `{type, timestamp, data}`; `data` is the event's record
 * (contract section 3) without `processing`. A record over 20 KB comes without identity and properties, with
 * `isReference: true`. Works in steps.
 */
export function* deliveryBody(event: LoggedEvent, { customerId, personal }: BodyOptions): Steps<string> {
  const reference = {
    eventId: event.eventId,
    family: event.family,
    source: event.source,
    externalEventId: event.externalEventId,
    eventType: event.eventType,
    eventTypeVersion: event.eventTypeVersion,
    occurredAt: event.occurredAt.toISOString(),
    receivedAt: event.receivedAt.toISOString(),
    profileId: customerId,
  };
  const properties = personal === null ? event.properties : yield* propertySteps(event.properties, personal);
  const identity = personal === null ? event.identity : maskIdentityFields(event.identity);
  const whole = bodyText(event, { ...reference, identity, properties });
  if (Buffer.byteLength(whole) <= BODY_BYTES_MAX) return whole;
  return bodyText(event, { ...reference, isReference: true });
}

/** The body of a test call; it holds nothing of any customer. */
export function testBody(endpointId: string, at: Date): string {
  return JSON.stringify({ type: TEST_TYPE, timestamp: at.toISOString(), data: { webhookId: endpointId } });
}

/** The type has a prefix of its own, so that no event type of a client looks like another kind of call. */
function bodyText({ eventType, occurredAt }: LoggedEvent, data: object): string {
  return JSON.stringify({ type: `event.${eventType}`, timestamp: occurredAt.toISOString(), data });
}
