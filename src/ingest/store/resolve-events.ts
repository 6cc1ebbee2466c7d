import type { IdentityDecision, TenantClaim } from '../../identity/domain/identity-batch';
import { newId } from '../../platform/values/ids';
import { kindName, type Event, type ResolvedEvent } from '../domain/event';

/** What an event says about its customer. */
export function claimOf({ tenantId, eventId, identifiers, receivedAt }: Event): TenantClaim {
  return { tenantId, eventId, identifiers, at: receivedAt, newProfileId: newId() };
}

/**
 * The events whose customer the decision knows, in their order. Events of `subscribed` kinds get entries of their own in the
 * queue, and so do events by which customers get an EXTERNAL identifier: what waits for one is looked for when they leave it.
 */
export function resolveEvents(
  events: readonly Event[],
  { resolutions, plans }: IdentityDecision,
  subscribed: ReadonlySet<string>,
): ResolvedEvent[] {
  const bundleId = newId();
  const linked = new Set(plans.flatMap(({ plan }) => plan.linkedRoots));
  return events.flatMap((event, index): ResolvedEvent[] => {
    const resolution = resolutions[index];
    if (resolution?.outcome !== 'resolved') return [];
    const { profileId, rootId, contributes } = resolution;
    const isAlone = subscribed.has(kindName(event)) || (contributes && linked.has(rootId));
    return [{ event, profileId, rootId, queueBundleId: isAlone ? null : bundleId }];
  });
}
