import type { IdentityDecision, TenantClaim } from '../../identity/identity.service';
import { newId } from '../../platform/values/ids';
import type { Event, ResolvedEvent } from '../domain/event';
import { kindName } from './event-kind';

/** What an event says of a customer. */
class EventClaim implements TenantClaim {
  readonly tenantId: string;
  readonly eventId: string;
  readonly identifiers: TenantClaim['identifiers'];
  readonly at: number;
  private profileId: string | undefined;

  constructor({ tenantId, eventId, identifiers, receivedAt }: Event) {
    this.tenantId = tenantId;
    this.eventId = eventId;
    this.identifiers = identifiers;
    this.at = receivedAt;
    this.profileId = undefined;
  }

  /** Made on demand: most customers are known, and an id costs more than parsing the event. */
  get newProfileId(): string {
    return (this.profileId ??= newId());
  }
}

export function claimOf(event: Event): TenantClaim {
  return new EventClaim(event);
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
