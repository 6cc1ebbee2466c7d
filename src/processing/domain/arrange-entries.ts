import { isEarlier, type EntryKey } from '../../ingest/queue/queue-partition';

/** The part of an entry that decides whether it may be processed now. */
export interface Arrangeable extends EntryKey {
  /** The customer's root when the event was received; entries of one are in one shard. */
  readonly queuedFor: string;
  /** The customer that the event belongs to now. */
  readonly rootId: string;
}

/** The entries of these customers that are elsewhere: in other shards, or parked. */
export interface Outstanding {
  /** The first parked entry of a profile. */
  readonly firstParked: ReadonlyMap<string, EntryKey>;
  /** The first entry that is queued or parked for other profiles of a customer than the one an entry was queued for. */
  readonly firstElsewhere: (entry: Arrangeable) => EntryKey | undefined;
}

/** The entries of a partition by what to do with them, each list in queue order. */
export interface Arrangement<T> {
  readonly ready: readonly T[];
  /** After a parked entry of the same profile. To be parked as well, so that later entries get into the batch. */
  readonly behind: readonly T[];
  /** Of a customer with earlier entries elsewhere; they stay in the queue. */
  readonly deferred: readonly T[];
}

/**
 * Decides which entries may be processed now, so that a customer's events are processed in the order of their arrival.
 * An entry waits only for strictly earlier ones, so the earliest of all never waits and there is no deadlock. `held`
 * are the customers with an earlier entry that was not ready; this call adds to them.
 */
export function arrangeEntries<T extends Arrangeable>(
  entries: readonly T[],
  { firstParked, firstElsewhere }: Outstanding,
  held: Set<string>,
): Arrangement<T> {
  const arrangement = { ready: [] as T[], behind: [] as T[], deferred: [] as T[] };
  for (const entry of entries) {
    const parked = firstParked.get(entry.queuedFor);
    const elsewhere = firstElsewhere(entry);
    const isBehind = parked !== undefined && isEarlier(parked, entry);
    if (isBehind) arrangement.behind.push(entry);
    else if (held.has(entry.rootId) || (elsewhere !== undefined && isEarlier(elsewhere, entry))) {
      arrangement.deferred.push(entry);
    } else {
      arrangement.ready.push(entry);
      continue;
    }
    held.add(entry.rootId);
  }
  return arrangement;
}
