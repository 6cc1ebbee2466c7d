import type { Outcome } from '../domain/outcome';
import { separateCopies, settleCopy, type Identified } from './copies';

/** A copy that says something else is tried by itself this often; beyond it its sender is told to send again. */
const ROUNDS_MAX = 8;
const UNSETTLED: Outcome = { status: 'refused', code: 'unavailable' };

/**
 * Settles a batch in which one event may occur several times, through a `store` that takes each event id once: the
 * first of equal ids is stored, the others are answered by what becomes of it. Answers in the order of the batch.
 */
export async function settleCopies<T extends Identified>(
  batch: readonly T[],
  store: (unique: readonly T[]) => Promise<readonly Outcome[]>,
): Promise<Outcome[]> {
  const outcomes = new Map<T, Outcome>();
  let waiting = batch;
  for (let round = 0; waiting.length > 0 && round < ROUNDS_MAX; round += 1) {
    const { firsts, copies } = separateCopies(waiting);
    const answers = await store(firsts);
    if (firsts.length === batch.length) return batch.map((_, index) => answers[index] ?? UNSETTLED);
    const settled = new Map<string, { first: T; outcome: Outcome }>();
    firsts.forEach((first, index) => {
      const outcome = answers[index] ?? UNSETTLED;
      outcomes.set(first, outcome);
      settled.set(first.eventId, { first, outcome });
    });
    waiting = copies.filter((copy) => {
      const original = settled.get(copy.eventId);
      const outcome = original && settleCopy(copy, original.first, original.outcome);
      if (outcome !== undefined) outcomes.set(copy, outcome);
      return outcome === undefined;
    });
  }
  return batch.map((work) => outcomes.get(work) ?? UNSETTLED);
}
