import type { IdentityDecision, TenantClaim } from '../../identity/domain/identity-batch';
import { newId } from '../../platform/values/ids';
import type { ReplayedEntry } from '../../review/domain/resolution';
import { duplicateResult } from '../domain/deduplication';
import { kindName, type Event, type ResolvedEvent } from '../domain/event';
import { refusedByStore, type IngestResult, type StoredResult } from '../domain/ingest-result';
import type { StoredEvent } from './event-log';

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

/** The results of a batch, by its events. */
export type Results = Map<Event, IngestResult>;

/** No event was stored by it. */
export const NO_BATCH = '';

export function acceptedResult({ eventId, contentHash, warnings }: Event): StoredResult {
  return { status: 'accepted', eventId, warnings, storedHash: contentHash };
}

/** Adds events that were there before: duplicates, unless an earlier attempt at this very batch has stored them. */
export function addStored(
  results: Results,
  batch: readonly Event[],
  stored: ReadonlyMap<string, StoredEvent>,
  batchId: string,
): void {
  for (const event of batch) {
    const { eventId, contentHash } = event;
    const found = stored.get(eventId);
    if (found === undefined) continue;
    const { contentHash: storedHash } = found;
    // The transaction that stored it has recorded its warnings.
    if (found.batchId === batchId) results.set(event, { status: 'accepted', eventId, warnings: [], storedHash });
    else results.set(event, duplicateResult(eventId, storedHash, contentHash));
  }
}

/** Adds events that were not there: `inserted` are the ids of those that this batch has stored. */
export function addFresh(
  results: Results,
  fresh: readonly Event[],
  { resolutions }: IdentityDecision,
  inserted: ReadonlySet<string>,
): void {
  fresh.forEach((event, index) => {
    const resolution = resolutions[index];
    if (resolution === undefined) return;
    if (resolution.outcome !== 'resolved') {
      results.set(event, refusedByStore(resolution.outcome));
    } else if (inserted.has(event.eventId)) {
      const accepted = acceptedResult(event);
      const { warnings } = resolution;
      results.set(
        event,
        warnings.length === 0 ? accepted : { ...accepted, warnings: [...event.warnings, ...warnings] },
      );
    }
  });
}

/** The results in the order of the batch. Callers go by the index: a missing one would give each event that of the next. */
export function inOrder(batch: readonly Event[], results: Results): IngestResult[] {
  return batch.map((event) => {
    const result = results.get(event);
    if (result === undefined) throw new Error('An event was left without a result');
    return result;
  });
}

/** Whether the event stands as it was sent now, so that earlier refusals of it are closed. */
export function isStoredAsSent(result: IngestResult): boolean {
  return result.status !== 'error' && !saysSomethingElse(result);
}

/** Whether it is a copy that says something else than the stored event. */
export function saysSomethingElse(result: IngestResult): boolean {
  return result.status !== 'error' && result.warnings.includes('payload_mismatch');
}

/** The review entry that the event was replayed from, which storing it closes. */
export function replayedEntries(event: Event, result: IngestResult): ReplayedEntry[] {
  const { tenantId, eventId, submission } = event;
  const { replay } = submission;
  if (replay === undefined || result.status === 'error') return [];
  const resolution = { ...replay.attempt, outcome: result.status, eventId };
  return [{ tenantId, id: replay.entryId, eventId, resolution }];
}
