import type { HeldCustomer } from '../../identity/domain/known-identities';
import type { QueueKey } from './claimed-delivery';

/** Profiles of the same customer, which have queues of their own. */
export function otherProfilesOf({ profileId }: QueueKey, customer: HeldCustomer | undefined): readonly string[] {
  if (customer === undefined || customer.isErased) return [];
  return customer.profileIds.filter((id) => id !== profileId);
}

/** The columns of their keys. */
export function keysOf(queues: readonly QueueKey[]): [string[], string[], string[]] {
  return [
    queues.map(({ tenantId }) => tenantId),
    queues.map(({ endpointId }) => endpointId),
    queues.map(({ profileId }) => profileId),
  ];
}

/** In one order everywhere, so that two transactions that lock queues do not wait for each other. */
export function inKeyOrder<Queue extends QueueKey>(queues: readonly Queue[]): Queue[] {
  const distinct = new Map(queues.map((queue) => [keyOf(queue), queue]));
  return [...distinct].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, queue]) => queue);
}

export function keyOf({ tenantId, endpointId, profileId }: QueueKey): string {
  return `${tenantId}/${endpointId}/${profileId}`;
}
