import type { HeldCustomer } from '../../identity/domain/known-identities';
import type { QueueKey } from './claimed-delivery';

/** The queues of the other profiles of a customer; `queue` is one of events. */
export function otherQueuesOf<Queue extends QueueKey>(queue: Queue, customer: HeldCustomer | undefined): Queue[] {
  if (customer === undefined || customer.isErased) return [];
  return customer.profileIds.filter((id) => id !== queue.queueId).map((queueId) => ({ ...queue, queueId }));
}

/** The columns of their keys. */
export function keysOf(queues: readonly QueueKey[]): [string[], string[], string[]] {
  return [
    queues.map(({ tenantId }) => tenantId),
    queues.map(({ endpointId }) => endpointId),
    queues.map(({ queueId }) => queueId),
  ];
}

/** In one order everywhere, so that two transactions that lock queues do not wait for each other. */
export function inKeyOrder<Queue extends QueueKey>(queues: readonly Queue[]): Queue[] {
  const distinct = new Map(queues.map((queue) => [keyOf(queue), queue]));
  return [...distinct].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, queue]) => queue);
}

export function keyOf({ tenantId, endpointId, queueId }: QueueKey): string {
  return `${tenantId}/${endpointId}/${queueId}`;
}
