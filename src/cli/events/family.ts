import { fieldsOf, parseJson } from '../foreign-data';

/** Where batches of each family of events go. */
export const EVENT_BATCH_PATHS = { external: '/v1/external-events:batch', cdp: '/v1/cdp/events/batch' } as const;
export type Family = keyof typeof EVENT_BATCH_PATHS;

/** The field names that only one of the families has (contract section 3). */
const NAMES: Readonly<Record<Family, readonly string[]>> = {
  external: ['external_event_id', 'type', 'occurred_at', 'attributes'],
  cdp: ['externalEventId', 'eventType', 'occurredAt', 'properties'],
};

/** Whose names an event has; undefined when it has none, or some of both. */
export function familyOf(text: string): Family | undefined {
  const names = Object.keys(fieldsOf(parseJson(text)));
  const [external, cdp] = [NAMES.external, NAMES.cdp].map((own) => own.some((name) => names.includes(name)));
  if (external === cdp) return undefined;
  return external ? 'external' : 'cdp';
}
