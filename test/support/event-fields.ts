import type { EventFields } from '../../src/ingest/domain/event';

/** What an event says, always the same but for `fields`. */
export function fieldsOfAnEvent(fields: Partial<EventFields> = {}): EventFields {
  return {
    family: 'external',
    source: 'shop',
    externalEventId: 'order-1',
    eventType: 'purchase',
    eventTypeVersion: null,
    occurredAt: null,
    identifiers: [{ kind: 'EXTERNAL', value: 'ann' }],
    identity: { type: 'EXTERNAL', value: 'ann' },
    properties: { amount: 1 },
    ...fields,
  };
}
