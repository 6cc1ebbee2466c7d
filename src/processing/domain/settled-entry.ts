import type { ProcessingRecord, ReactionRecord } from '../../ingest/queue/processing-record';
import type { EffectFailure, EffectResult } from './event-effects';
import { lastErrorOf } from './processing-problem';

/** An event with what was recorded of it before, if anything was. */
interface Recorded {
  readonly eventId: string;
  readonly before: ProcessingRecord | undefined;
}

/** The record of an event that has left the queue, whether it could be processed or never will be. */
export function finishedRecord(
  { eventId, before }: Recorded,
  attempts: number,
  { reactions, failure }: EffectResult,
): ProcessingRecord {
  const all = withApplied(before?.reactions ?? [], reactions);
  // One that failed before, and was not tried again, waits for its replay.
  const hasFailed = failure !== undefined || all.some(({ outcome }) => outcome === 'failed');
  const lastError = failure === undefined ? (before?.lastError ?? null) : lastErrorOf(failure);
  return {
    ...{ eventId, attempts, state: hasFailed ? 'failed' : 'processed' },
    ...{ lastError: hasFailed ? lastError : null, reactions: all },
  };
}

/** The record of an event that will be tried again. */
export function waitingRecord(
  { eventId, before }: Recorded,
  attempts: number,
  failure: EffectFailure,
): ProcessingRecord {
  return { eventId, attempts, state: 'queued', lastError: lastErrorOf(failure), reactions: before?.reactions ?? [] };
}

/** Those of an event whose person was erased while some of them waited. */
export function erasedReactions(reactions: readonly ReactionRecord[]): readonly ReactionRecord[] {
  return reactions.map((each) =>
    each.outcome === 'waiting_for_customer' ? { ...each, outcome: 'skipped', reason: 'profile_erased' } : each,
  );
}

/** What was applied stays recorded, whatever is said of the event since: it is why nothing is applied twice. */
function withApplied(before: readonly ReactionRecord[], now: readonly ReactionRecord[]): readonly ReactionRecord[] {
  const applied = before.filter(
    (each) => each.outcome === 'applied' && !now.some((other) => isSameReaction(each, other)),
  );
  return applied.length === 0 ? now : [...applied, ...now];
}

function isSameReaction(a: ReactionRecord, b: ReactionRecord): boolean {
  return a.campaignId === b.campaignId && a.name === b.name;
}
