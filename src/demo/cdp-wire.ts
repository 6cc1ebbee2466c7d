import { purchaseId, type Purchase } from './cdnow';
import { fieldsOf } from './foreign-data';

export const EVENT_TYPES_PATH = '/v1/cdp/event-types';
export const EVENT_BATCH_PATH = '/v1/cdp/events/batch';

/** What the service must know before it takes a purchase. */
export const PURCHASE_EVENT_TYPE = {
  eventType: 'purchase',
  description: 'A customer bought something',
  properties: {
    amount: { type: 'number', required: true },
    quantity: { type: 'integer', required: true },
  },
};

/** What the service made of one event. */
export type Answer =
  | { readonly status: 'accepted' | 'duplicate'; readonly eventId: string }
  | { readonly status: 'error'; readonly errorCode: string; readonly message: string };

/** The event of a purchase, letter for letter. */
export function purchaseEvent(purchase: Purchase): unknown {
  return {
    source: 'cdnow',
    externalEventId: purchaseId(purchase),
    eventType: PURCHASE_EVENT_TYPE.eventType,
    occurredAt: `${purchase.date}T00:00:00Z`,
    identity: { externalUserId: `cdnow-${purchase.customer}` },
    properties: { amount: purchase.cents / 100, quantity: purchase.quantity },
  };
}

/** The results of a batch, in its order; undefined when the body is not the answer to `count` events. */
export function readAnswers(body: unknown, count: number): readonly Answer[] | undefined {
  const { results } = fieldsOf(body);
  if (!Array.isArray(results) || results.length !== count) return undefined;
  const answers = results.map(readAnswer).filter((answer) => answer !== undefined);
  return answers.length === count ? answers : undefined;
}

function readAnswer(result: unknown): Answer | undefined {
  const { status, event_id, original_event_id, error_code, message } = fieldsOf(result);
  if (status === 'accepted' && typeof event_id === 'string') return { status, eventId: event_id };
  if (status === 'duplicate' && typeof original_event_id === 'string') return { status, eventId: original_event_id };
  if (status !== 'error' || typeof error_code !== 'string' || typeof message !== 'string') return undefined;
  return { status, errorCode: error_code, message };
}
