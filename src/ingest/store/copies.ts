import { saysTheSame } from '../domain/content-hash';
import type { Outcome } from '../domain/outcome';

export interface Identified {
  readonly eventId: string;
  readonly contentHash: string;
}

/** Splits a batch into the first of each event id and the rest, both in the order of arrival. */
export function separateCopies<T extends Identified>(batch: readonly T[]): { firsts: T[]; copies: T[] } {
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
 * What a copy gets by what became of the first. Undefined when it must be tried by itself: a refused event never uses
 * up its id (contract section 3), so a copy that says something else has its own chance.
 */
export function settleCopy(copy: Identified, first: Identified, outcome: Outcome): Outcome | undefined {
  if (outcome.status !== 'refused') {
    const { storedHash } = outcome;
    const warnings = saysTheSame(storedHash, copy.contentHash) ? [] : (['payload_mismatch'] as const);
    return { status: 'duplicate', warnings, storedHash, copy: true };
  }
  return copy.contentHash === first.contentHash || outcome.code === 'unavailable' ? outcome : undefined;
}
