import type { IdentityDecision, TenantClaim } from '../../identity/domain/identity-batch';
import { newId } from '../../platform/values/ids';
import type { IngestWork } from './store-results';
import { kindName, type EventKind } from './event-kind';
import type { EventToStore, ResolvedEvent } from './event-log';

/** What an event says of a person. */
class EventClaim implements TenantClaim {
  readonly tenantId: string;
  readonly eventId: string;
  readonly identifiers: TenantClaim['identifiers'];
  readonly at: number;
  private profileId: string | undefined;

  constructor({ tenantId, eventId, event, receivedAt }: IngestWork) {
    this.tenantId = tenantId;
    this.eventId = eventId;
    this.identifiers = event.identifiers;
    this.at = receivedAt;
    this.profileId = undefined;
  }

  /** Made when it is asked for: most customers are known, and an id costs more than parsing the event. */
  get newProfileId(): string {
    return (this.profileId ??= newId());
  }
}

export function claimOf(work: IngestWork): TenantClaim {
  return new EventClaim(work);
}

export function kindOf({ tenantId, event: { eventType } }: EventToStore): EventKind {
  return { tenantId, eventType };
}

/**
 * The events that belong somewhere, by where each of them does. Those of `subscribed` kinds get entries of their own in the queue; so
 * do those by which customers get an EXTERNAL identifier, since what waits for one is looked for when they leave it.
 */
export function resolvedEvents(
  works: readonly IngestWork[],
  { resolutions, plans }: IdentityDecision,
  subscribed: ReadonlySet<string>,
): ResolvedEvent[] {
  const sharedId = newId();
  const linked = new Set(plans.flatMap(({ plan }) => plan.linkedRoots));
  return works.flatMap((work, index): ResolvedEvent[] => {
    const resolution = resolutions[index];
    if (resolution?.outcome !== 'resolved') return [];
    const isAlone = subscribed.has(kindName(kindOf(work))) || (resolution.contributes && linked.has(resolution.rootId));
    return [resolvedEvent(work, resolution, isAlone ? null : sharedId)];
  });
}

export function resolvedEvent(
  { tenantId, eventId, event, contentHash, receivedAt, replay }: IngestWork,
  { profileId, rootId }: Pick<ResolvedEvent, 'profileId' | 'rootId'>,
  queueBundleId: string | null,
): ResolvedEvent {
  const receivedBefore = replay === undefined ? null : receivedAt;
  return { tenantId, eventId, event, contentHash, receivedAt, receivedBefore, profileId, rootId, queueBundleId };
}
