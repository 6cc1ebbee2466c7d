import { unseenDuplicateResult, OTHER_THAN_EXPIRED } from '../domain/deduplication';
import type { Event } from '../domain/event';
import { type IngestResult, isUnavailable, refusedByStore } from '../domain/ingest-result';

/**
 * A copy that says something else is tried by itself this often. Beyond it the sender of a refused event is asked to send it
 * again, and a copy of an expired event counts as one that says something else.
 */
const ROUNDS_MAX = 8;

type Identified = Pick<Event, 'eventId' | 'contentHash'>;

/**
 * Stores a batch in which one event may occur several times, through a `store` that takes each event id once: the first of
 * equal ids is stored, and its result answers the others. Results are in the order of the batch.
 */
export async function storeCopies<T extends Identified>(
  batch: readonly T[],
  store: (unique: readonly T[]) => Promise<readonly IngestResult[]>,
): Promise<readonly IngestResult[]> {
  const results = new Map<T, IngestResult>();
  let waiting = batch;
  for (let round = 0; waiting.length > 0 && round < ROUNDS_MAX; round += 1) {
    const { firsts, copies } = separateCopies(waiting);
    const stored = await store(firsts);
    if (firsts.length === batch.length) return stored;
    const originals = new Map<string, { readonly event: T; readonly result: IngestResult }>();
    firsts.forEach((event, index) => {
      const result = stored[index] ?? refusedByStore('unavailable');
      results.set(event, result);
      originals.set(event.eventId, { event, result });
    });
    waiting = copies.filter((copy) => {
      const original = originals.get(copy.eventId);
      const isLast = round === ROUNDS_MAX - 1;
      const result = original && resultOfCopy(copy, original.event, original.result, isLast);
      if (result !== undefined) results.set(copy, result);
      return result === undefined;
    });
  }
  return batch.map((event) => results.get(event) ?? refusedByStore('unavailable'));
}

/** Splits a batch into the first of each event id and the rest, both in the order of arrival. */
function separateCopies<T extends Identified>(batch: readonly T[]): { firsts: T[]; copies: T[] } {
  const seen = new Set<string>();
  const firsts: T[] = [];
  const copies: T[] = [];
  for (const event of batch) {
    (seen.has(event.eventId) ? copies : firsts).push(event);
    seen.add(event.eventId);
  }
  return { firsts, copies };
}

/**
 * The result of a copy by that of the first. Undefined when it must be tried by itself: a refused event never uses up its
 * id (contract section 3), so that a copy that says something else has its own chance; and what an expired event said is
 * compared with each copy.
 */
function resultOfCopy(
  copy: Identified,
  first: Identified,
  result: IngestResult,
  isLast: boolean,
): IngestResult | undefined {
  const isSame = copy.contentHash === first.contentHash;
  if (result.status === 'error') return isSame || isUnavailable(result) ? result : undefined;
  if (result.storedHash === OTHER_THAN_EXPIRED && !isSame && !isLast) return undefined;
  return unseenDuplicateResult(result.eventId, result.storedHash, copy.contentHash);
}
