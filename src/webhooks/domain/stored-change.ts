import { nameId } from '../../platform/values/ids';
import type { ChangeCause, ValueChange } from '../../runtime/domain/value-change';
import type { VariableScope, VariableValue } from '../../variables/domain/variable';

/** A change of a value as it is stored for its deliveries: an entry of the history (contract section 12). */
export interface ChangeContent {
  readonly at: string;
  readonly scope: VariableScope;
  /** The campaign, or the app. */
  readonly ownerId: string;
  readonly name: string;
  readonly op: string;
  readonly previous: VariableValue | null;
  readonly current: VariableValue;
  /** Null for a variable without periods. */
  readonly periodStart: string | null;
  readonly cause: ChangeCause;
}

/** A change that is to be sent. */
export interface ChangeToSend {
  readonly id: string;
  /** Whose own value it is, or who changed a shared one; empty: nobody, or an erased person. */
  readonly subject: string;
  readonly content: ChangeContent;
}

export function contentOfChange(change: ValueChange): ChangeContent {
  const { key, op, previous, current, cause, periodStart, atMicros } = change;
  const { scope, ownerId, name } = key;
  return {
    at: new Date(Math.floor(atMicros / 1_000)).toISOString(),
    scope,
    ownerId,
    name,
    op,
    previous,
    current,
    periodStart: periodStart === null ? null : new Date(periodStart).toISOString(),
    cause,
  };
}

/** The participant whom a change is about: whose own value it is, or who changed a shared one. */
export function subjectOfChange({ key: { subject }, changedBy }: ValueChange): string {
  return subject === '' ? changedBy : subject;
}

/**
 * The queue of a change at each endpoint: one for each participant, and one for each value that participants share. The
 * same on every node, and no profile's id.
 */
export function changeQueueId({ key: { tenantId, subject, scope, ownerId, name } }: ValueChange): string {
  return nameId(
    subject === '' ? ['webhook-value', tenantId, scope, ownerId, name] : participantQueue(tenantId, subject),
  );
}

/** The queue of all own values of a participant, in every campaign. */
export function participantQueueId(tenantId: string, subject: string): string {
  return nameId(participantQueue(tenantId, subject));
}

function participantQueue(tenantId: string, subject: string): string[] {
  return ['webhook-participant', tenantId, subject];
}
