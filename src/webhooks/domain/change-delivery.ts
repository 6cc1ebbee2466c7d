import { maskProperties } from '../../platform/privacy/mask';
import { maskIdentity } from '../../platform/privacy/mask-text';
import { nameId } from '../../platform/values/ids';
import type { ChangeCause, ValueChange } from '../../runtime/domain/value-change';
import type { VariableScope, VariableValue } from '../../variables/domain/variable';
import { BODY_BYTES_MAX } from './delivery-body';

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
    ...{ at: new Date(Math.floor(atMicros / 1_000)).toISOString(), scope, ownerId, name, op, previous, current },
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

/**
 * The body of a call for a change: `{type, timestamp, data}`. Masked (contract section 6), the participant is shown as an
 * identifier is, and a value as a property of the variable's name. A body over 20 KB comes without values, with
 * `isReference: true`.
 */
export function changeBody({ id, subject, content }: ChangeToSend, isMasked: boolean): string {
  const { at, scope, ownerId, name, op, periodStart } = content;
  const participant = isMasked && subject !== '' ? maskIdentity('EXTERNAL', subject) : subject;
  const reference = {
    changeId: id,
    ...{ at, scope, [scope === 'app' ? 'appId' : 'campaignId']: ownerId, name },
    ...(scope === 'user' ? { participant } : {}),
    op,
    ...(periodStart === null ? {} : { periodStart }),
  };
  const shown = isMasked ? maskedValue : (_name: string, value: unknown) => value;
  const cause = {
    ...content.cause,
    ...('mutationId' in content.cause ? { mutationId: shown('mutationId', content.cause.mutationId) } : {}),
    ...(scope !== 'user' && subject !== '' ? { actor: participant } : {}),
  };
  const values = { previous: shown(name, content.previous), current: shown(name, content.current), cause };
  const whole = bodyText(content, { ...reference, ...values });
  if (Buffer.byteLength(whole) <= BODY_BYTES_MAX) return whole;
  return bodyText(content, { ...reference, isReference: true });
}

/** As views show a property of this name. */
function maskedValue(name: string, value: unknown): unknown {
  // The name itself may be masked, too.
  return Object.values(maskProperties({ [name]: value }, new Set()) as object)[0];
}

function bodyText({ at, scope, name }: ChangeContent, data: object): string {
  return JSON.stringify({ type: `change.${scope}.${name}`, timestamp: at, data });
}
