import type { CdpEvent } from '../../clients/typescript/src/client';
import { purchaseId, type Purchase } from './cdnow';

export const EVENT_TYPES_PATH = '/v1/cdp/event-types';

export const SOURCE = 'cdnow';

/** What the service must know before it takes a purchase. */
export const PURCHASE_EVENT_TYPE = {
  eventType: 'purchase',
  description: 'A customer bought something',
  properties: {
    amount: { type: 'number', required: true },
    quantity: { type: 'integer', required: true },
  },
};

/** The event of a purchase, letter for letter. */
export function purchaseEvent(purchase: Purchase): CdpEvent {
  return {
    source: SOURCE,
    externalEventId: purchaseId(purchase),
    eventType: PURCHASE_EVENT_TYPE.eventType,
    occurredAt: `${purchase.date}T00:00:00Z`,
    identity: { externalUserId: subjectOf(purchase) },
    properties: { amount: purchase.cents / 100, quantity: purchase.quantity },
  };
}

/** The customer, and the participant of campaigns. */
export function subjectOf({ customer }: Purchase): string {
  return `cdnow-${customer}`;
}
