import type { Family } from '../../client/batch-answers';
import { fieldsOf, parseJson } from '../../client/foreign-data';

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
