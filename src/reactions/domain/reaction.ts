import type { LimitPolicy, OperationKind } from '../../runtime/domain/operation';
import type { VariableValue } from '../../variables/domain/variable';
import type { Condition } from './condition';

/** The same number as the variables of a scope by default; more are hard to read. */
export const REACTIONS_PER_CAMPAIGN_MAX = 100;

/**
 * Of all campaigns of a workspace, disabled ones included. Each enabled one is evaluated for every event of the type.
 */
export const REACTIONS_PER_EVENT_TYPE_MAX = 50;

/** One change by a reaction, with a fixed value or one from the event. */
export type ReactionOperation = {
  readonly path: string;
  readonly op: OperationKind;
  /** Undefined: the reaction is skipped if the variable would leave its limits. */
  readonly onLimit?: LimitPolicy;
} & ({ readonly value: VariableValue } | { readonly valueFrom: string });

/** A reaction as a client defines it (contract section 8). */
export interface ReactionDefinition {
  readonly name: string;
  readonly eventType: string;
  /** Undefined: events of any source. */
  readonly source: string | undefined;
  /** Undefined: all of them. */
  readonly when: Condition | undefined;
  readonly ops: readonly ReactionOperation[];
  readonly enabled: boolean;
}

/** The name of a reaction for clients, and in the records of events. */
export interface ReactionName {
  readonly campaignId: string;
  readonly name: string;
}

/** A reaction as the worker sees it. */
export interface ReactionRule extends ReactionName {
  /** Stays the same from the first definition until it is deleted. */
  readonly id: string;
  readonly source: string | null;
  readonly ops: readonly ReactionOperation[];
  /** Events received earlier are ignored. */
  readonly appliesFrom: Date;
  /** The running backfill that must know which customers' values later events have set; null: none. */
  readonly backfillId: string | null;
}

/** The stored definition of a reaction. */
export interface StoredReaction {
  readonly eventType: string;
  readonly source: string | null;
  readonly condition: Condition | null;
  readonly operations: readonly ReactionOperation[];
  readonly enabled: boolean;
  readonly appliesFrom: Date;
}

/** Whether a definition changes nothing. */
export function isSameReaction(stored: StoredReaction, definition: ReactionDefinition): boolean {
  return contentOf(stored) === contentOf(storedOf(definition, stored.appliesFrom));
}

/**
 * From when on a redefined reaction applies to events (docs/adr/0028). A corrected one keeps its time, so that replayed
 * events reach it. One with another event type or source, or one that was disabled, starts now.
 */
export function appliesFrom(stored: StoredReaction, definition: ReactionDefinition, now: Date): Date {
  const isSameSubscription = stored.eventType === definition.eventType && stored.source === (definition.source ?? null);
  return isSameSubscription && (stored.enabled || !definition.enabled) ? stored.appliesFrom : now;
}

/** A definition as it is stored; it applies to events that are received at `from` or later. */
export function storedOf(definition: ReactionDefinition, from: Date): StoredReaction {
  const { eventType, source = null, when = null, ops, enabled } = definition;
  return { eventType, source, condition: when, operations: ops, enabled, appliesFrom: from };
}

function contentOf({ eventType, source, condition, operations, enabled }: StoredReaction): string {
  return JSON.stringify([eventType, source, condition, operations, enabled]);
}
