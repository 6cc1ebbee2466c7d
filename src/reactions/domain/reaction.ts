import type { VariableValue } from '../../variables/domain/variable';
import type { Condition } from './condition';

/** One change that a reaction makes; what it sets or adds is written down, or found in the event. */
export type ReactionOperation = {
  readonly path: string;
  readonly op: 'set' | 'inc' | 'dec';
} & ({ readonly value: VariableValue } | { readonly valueFrom: string });

/** What somebody defines under a name in a campaign (contract section 8). */
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

/** What clients, and the records of events, call a reaction by. */
export interface ReactionName {
  readonly campaignId: string;
  readonly name: string;
}

/** As it is known to whoever carries it out. */
export interface ReactionRule extends ReactionName {
  /** From its first definition until it is deleted. */
  readonly id: string;
  readonly source: string | null;
  readonly ops: readonly ReactionOperation[];
  /** Events received before are none of its business. */
  readonly appliesFrom: Date;
}
