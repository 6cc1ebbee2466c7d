import type { LoggedEvent } from '../../src/ingest/domain/event';

/** A stored event, always the same one but for `fields`. */
export function aStoredEvent(fields: Partial<LoggedEvent> = {}): LoggedEvent {
  return {
    eventId: '5f0c2f0e-0000-8000-8000-0000000012ab',
    family: 'external',
    source: 'shop',
    externalEventId: 'order-1',
    eventType: 'purchase',
    eventTypeVersion: null,
    profileId: '0197a2f0-0000-7000-8000-000000000001',
    occurredAt: new Date('2026-01-02T03:04:05Z'),
    receivedAt: new Date('2026-01-02T03:04:06Z'),
    identity: { type: 'EXTERNAL', value: 'ann' },
    properties: { amount: 29.33 },
    ...fields,
  };
}
