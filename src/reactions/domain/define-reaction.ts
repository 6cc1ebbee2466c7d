import type { Condition } from './condition';
import type { ReactionDefinition, ReactionOperation } from './reaction';

/** What is stored of a reaction. */
export interface StoredReaction {
  readonly eventType: string;
  readonly source: string | null;
  readonly condition: Condition | null;
  readonly operations: readonly ReactionOperation[];
  readonly enabled: boolean;
  readonly appliesFrom: Date;
}

/** Whether a definition says what is so already. */
export function isSameReaction(stored: StoredReaction, wanted: ReactionDefinition): boolean {
  return contentOf(stored) === contentOf(storedOf(wanted, stored.appliesFrom));
}

/**
 * From when on a reaction that was redefined applies to events (docs/adr/0028): one that is mended goes on where it was, so that
 * a replay reaches it; one that listens to something else, or was off, begins anew.
 */
export function appliesFrom(stored: StoredReaction, wanted: ReactionDefinition, now: Date): Date {
  const isSubscribed = stored.eventType === wanted.eventType && stored.source === (wanted.source ?? null);
  return isSubscribed && (stored.enabled || !wanted.enabled) ? stored.appliesFrom : now;
}

/** What a definition says in the words of the table; it applies to events that are received at `from` or later. */
export function storedOf(wanted: ReactionDefinition, from: Date): StoredReaction {
  const { eventType, source = null, when = null, ops, enabled } = wanted;
  return { eventType, source, condition: when, operations: ops, enabled, appliesFrom: from };
}

function contentOf({ eventType, source, condition, operations, enabled }: StoredReaction): string {
  return JSON.stringify([eventType, source, condition, operations, enabled]);
}
