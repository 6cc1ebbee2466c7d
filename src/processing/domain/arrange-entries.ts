import { isEarlier, type EntryKey } from '../../ingest/queue/queue-partition';

/** What has to be known of an entry to decide whether it is its turn. */
export interface Arrangeable extends EntryKey {
  /** The customer's root when the event was received; entries of one are in one shard. */
  readonly queuedFor: string;
  /** The customer that the event belongs to now. */
  readonly rootId: string;
}

/** What of these customers is still to be done elsewhere: in other shards, or parked. */
export interface Outstanding {
  /** The first parked entry of a profile. */
  readonly firstParked: ReadonlyMap<string, EntryKey>;
  /** The first entry that is queued or parked for other profiles of a customer than the one an entry was queued for. */
  readonly firstElsewhere: (entry: Arrangeable) => EntryKey | undefined;
}

/** What to do with the entries of a place, each list in their order. */
export interface Arrangement<T> {
  readonly ready: readonly T[];
  /** Behind a parked entry of the same profile, and parked as well: what comes after them then has room. */
  readonly behind: readonly T[];
  /** Of a customer who has earlier entries elsewhere; they stay where they are. */
  readonly deferred: readonly T[];
}

/**
 * Decides which entries may be processed now, so that a customer's events are processed in the order of their arrival. An
 * entry waits only for strictly earlier ones: the earliest of all waits for nobody, so nothing waits for ever. `held` are the
 * customers of whom something was left behind already; whoever is left behind here is added.
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
