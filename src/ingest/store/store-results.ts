import type { IdentityDecision } from '../../identity/domain/identity-batch';
import type { ReplayAttempt, ReplayedEntry } from '../../review/domain/resolution';
import { saysTheSame } from '../domain/content-hash';
import type { Outcome, WarningReason } from '../domain/outcome';
import type { EventToStore, StoredEvent } from './event-log';

/** An event in the lane. */
export interface IngestWork extends EventToStore {
  /** The JSON text it came as, for the review area. */
  readonly text: () => string;
  /** What is odd about the event itself, whoever it belongs to. */
  readonly warnings: readonly WarningReason[];
  /** The review entry that the event was kept in before, and who sends it again. */
  readonly replay?: { readonly entryId: string; readonly attempt: ReplayAttempt };
}

/** A piece of a batch, and what became of it. */
export interface Settled {
  readonly work: IngestWork;
  readonly outcome: Outcome;
}

/** Events that were there before: duplicates, unless an earlier attempt of this very batch has stored them. */
export function repeated(
  batch: readonly IngestWork[],
  stored: ReadonlyMap<string, StoredEvent>,
  batchId: string,
): Settled[] {
  return batch.flatMap((work): Settled[] => {
    const found = stored.get(work.eventId);
    if (found === undefined) return [];
    const { contentHash: storedHash } = found;
    if (found.batchId === batchId) return [{ work, outcome: { status: 'accepted', warnings: [], storedHash } }];
    const warnings = saysTheSame(storedHash, work.contentHash) ? [] : (['payload_mismatch'] as const);
    return [{ work, outcome: { status: 'duplicate', warnings, storedHash } }];
  });
}

/** Events that were not there: `inserted` are those that this batch has stored. */
export function settledFresh(
  fresh: readonly IngestWork[],
  { resolutions }: IdentityDecision,
  inserted: ReadonlySet<string>,
): Settled[] {
  return fresh.flatMap((work, index): Settled[] => {
    const resolution = resolutions[index];
    if (resolution === undefined) return [];
    if (resolution.outcome !== 'resolved') return [{ work, outcome: { status: 'refused', code: resolution.outcome } }];
    if (!inserted.has(work.eventId)) return [];
    const warnings = resolution.warnings.length === 0 ? work.warnings : [...work.warnings, ...resolution.warnings];
    return [{ work, outcome: { status: 'accepted', warnings, storedHash: work.contentHash } }];
  });
}

/** Whether anything about it is kept for the review area. */
export function hasWarnings(outcome: Outcome): boolean {
  return outcome.status !== 'refused' && outcome.warnings.length > 0;
}

/** Whether the event stands as it was sent now, so that its refusals are settled. */
export function cameInRight(outcome: Outcome): boolean {
  return outcome.status !== 'refused' && !outcome.warnings.includes('payload_mismatch');
}

/** The entry that the event was replayed from, which this closes. */
export function replayedEntries({ work, outcome: { status } }: Settled): ReplayedEntry[] {
  const { tenantId, eventId, replay } = work;
  if (replay === undefined || status === 'refused') return [];
  return [{ tenantId, id: replay.entryId, eventId, resolution: { ...replay.attempt, outcome: status, eventId } }];
}

/** No event was stored by it. */
export const NO_BATCH = '';

/** The outcomes of a batch, in its order. */
export function inOrder(batch: readonly IngestWork[], settled: readonly Settled[]): Outcome[] {
  const isInOrder = settled.length === batch.length && settled.every(({ work }, index) => work === batch[index]);
  if (isInOrder) return settled.map(({ outcome }) => outcome);
  const outcomes = new Map(settled.map(({ work, outcome }) => [work.eventId, outcome]));
  return batch.flatMap((work) => outcomes.get(work.eventId) ?? []);
}
