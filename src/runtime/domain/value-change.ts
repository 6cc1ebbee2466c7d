import type { VariableScope, VariableValue } from '../../variables/domain/variable';
import type { OperationKind } from './operation';

/** Who causes changes of values (contract section 12). */
export const CAUSE_KINDS = ['mutation', 'reaction', 'backfill'] as const;

/** Why a value was changed. */
export type ChangeCause =
  | {
      readonly kind: 'mutation';
      /** As the client sent it; undefined if it sent none. */
      readonly mutationId?: string;
      /** The id of the API key of a backend; undefined for a mutation of the participant's own. */
      readonly actor?: string;
    }
  | {
      readonly kind: 'reaction' | 'backfill';
      /** The campaign of the reaction: values of an app are changed by several. */
      readonly campaignId: string;
      readonly reaction: string;
      readonly eventId: string;
    };

/** A stored value: the participant's own, or one of a campaign or an app, whose subject is empty. */
export interface ValueKey {
  readonly tenantId: string;
  readonly subject: string;
  readonly scope: VariableScope;
  /** The campaign, or the app. */
  readonly ownerId: string;
  readonly name: string;
}

/** One change of a stored value by one operation. */
export interface ValueChange {
  readonly key: ValueKey;
  readonly op: OperationKind;
  /** What a read would have shown before. */
  readonly previous: VariableValue | null;
  readonly current: VariableValue;
  readonly cause: ChangeCause;
  /** The participant who changed a value that participants share; empty: nobody, or the participant's own value. */
  readonly changedBy: string;
  /** The beginning of the period of `current`, in epoch milliseconds; null for a variable without periods. */
  readonly periodStart: number | null;
  /** The moment of the change, in epoch microseconds. */
  readonly atMicros: number;
}
