import type { StoredEventRecord } from '../../processing/domain/event-effects';

/** The fields of an event as conditions and `valueFrom` see it (contract section 3), those that hold more fields last. */
export const RECORD_FIELDS = [
  ...['eventId', 'family', 'source', 'externalEventId', 'eventType', 'eventTypeVersion', 'occurredAt', 'receivedAt'],
  ...['profileId', 'identity', 'properties'],
] as const;

/** Those below which there are more. */
export const RECORD_BRANCHES: ReadonlySet<string> = new Set(['identity', 'properties']);

/** An event in JSON, unmasked. */
export type EventRecord = Readonly<Record<string, unknown>>;

/** The record of an event: times as text, and nothing that the record of section 3 does not have. */
export function recordOf(event: StoredEventRecord): EventRecord {
  const { eventId, family, source, externalEventId, eventType, eventTypeVersion, profileId, identity, properties } =
    event;
  return {
    ...{ eventId, family, source, externalEventId, eventType, eventTypeVersion },
    occurredAt: event.occurredAt.toISOString(),
    receivedAt: event.receivedAt.toISOString(),
    ...{ profileId, identity, properties },
  };
}
