import { randomUUID } from 'node:crypto';

type Fields = Readonly<Record<string, unknown>>;

/** A valid external event, each time a new one. */
export function anExternalEvent(fields: Fields = {}): Record<string, unknown> {
  const id = randomUUID();
  return {
    source: 'shop.orders',
    external_event_id: `order-${id}`,
    type: 'purchase',
    occurred_at: '2026-01-02T03:04:05Z',
    identity: { type: 'EXTERNAL', value: `customer-${id}` },
    attributes: { amount: 29.33 },
    ...fields,
  };
}

/** A valid event of the type that `registerPurchase` registers, each time a new one. */
export function aCdpEvent(fields: Fields = {}): Record<string, unknown> {
  const id = randomUUID();
  return {
    source: 'shop.orders',
    externalEventId: `order-${id}`,
    eventType: 'purchase',
    occurredAt: '2026-01-02T03:04:05Z',
    identity: { externalUserId: `customer-${id}` },
    properties: { amount: 29.33 },
    ...fields,
  };
}

export const PURCHASE = {
  eventType: 'purchase',
  properties: {
    amount: { type: 'number', required: true },
    quantity: { type: 'integer' },
    currency: { type: 'string', enum: ['USD', 'EUR'] },
    nickname: { type: 'string', pii: true },
  },
};

/** The same list in another order. */
export function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((entry) => ({ entry, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ entry }) => entry);
}
