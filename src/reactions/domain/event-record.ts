import type { StoredEventRecord } from '../../processing/domain/event-effects';

/** The fields of an event as conditions and `valueFrom` see it (contract section 3), those that hold more fields last. */
export const RECORD_FIELDS = [
  ...['eventId', 'family', 'source', 'externalEventId', 'eventType', 'eventTypeVersion', 'occurredAt', 'receivedAt'],
  ...['profileId', 'identity', 'properties'],
] as const;

/** Those below which there are more. */
export const RECORD_BRANCHES: ReadonlySet<string> = new Set(['identity', 'properties']);

/** What clients may write below `identity`: of the external family first, then of the CDP family (contract section 3). */
export const IDENTITY_FIELDS = ['type', 'value', 'externalUserId', 'email', 'phone', 'deviceKey'] as const;

/** What conditions call the record itself. */
const RECORD_NAME = 'event';

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

/**
 * The data that a condition reads: the record as `event`, and its fields as they are, so that `event.properties.amount` and
 * `properties.amount` name the same. Where a list is gone through, paths begin at the entry instead.
 */
export function conditionData(record: EventRecord): EventRecord {
  return { ...record, [RECORD_NAME]: record };
}

/** The steps of a path below the record; `event.properties.amount` and `properties.amount` name the same. */
export function recordSteps(path: string): readonly string[] {
  const steps = path.split('.');
  return steps[0] === RECORD_NAME && steps.length > 1 ? steps.slice(1) : steps;
}
