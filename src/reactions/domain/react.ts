import { describeFaults } from '../../platform/errors/describe-faults';
import type { Fault } from '../../platform/errors/fault';
import { shownName } from '../../platform/errors/fault-words';
import type { EffectFailure, EventToProcess, ReactionRecord } from '../../processing/domain/event-effects';
import type { Operation } from '../../runtime/domain/operation';
import { parseVariablePath } from '../../variables/domain/variable';
import type { CompiledCondition, Verdict } from './compile-condition';
import type { EventRecord } from './event-record';
import type { PersonalNames, SharedCopies } from './personal-data';
import type { ReactionRule, ReactionName } from './reaction';
import { operationsFor } from './reaction-operations';

/** A reaction with its compiled condition. */
export interface CompiledReaction {
  readonly reaction: ReactionRule;
  /** Undefined: it applies to every event of its type and source. */
  readonly condition: CompiledCondition | undefined;
  /** Undefined: it copies nothing from an event to campaign or app values. */
  readonly sharedCopies: SharedCopies | undefined;
}

/** What a reaction is evaluated with, beside the event. */
export interface EvaluationInput {
  readonly record: () => EventRecord;
  readonly isOverdue?: () => boolean;
  /** The personal properties of the event's type; undefined: `sharedCopies` is not checked. */
  readonly personalNames?: PersonalNames | undefined;
}

/** What to do with an event for a reaction: the result is known already, or operations must be applied. */
export type Plan =
  | { readonly reaction: ReactionRule; readonly result: ReactionResult }
  | { readonly reaction: ReactionRule; readonly operations: readonly Operation[]; readonly subject: string | null };

/**
 * The result of one reaction; faults say why it failed. `not_in_force`: the reaction waited for its customer, and was
 * gone or no longer applied to the event when the customer was linked.
 */
export type ReactionResult =
  | { readonly outcome: 'applied' }
  | { readonly outcome: 'waiting_for_customer' }
  | { readonly outcome: 'skipped'; readonly reason: 'condition' | 'not_in_force' }
  | { readonly outcome: 'failed'; readonly faults: readonly Fault[]; readonly mayRetry?: true };

/**
 * Plans what a reaction to this event type does with an event; undefined: it does not apply to the event. In a plan
 * with operations, `subject` is the participant whose values they change; null: they change no `user` values.
 */
export function planReaction(
  { reaction, condition, sharedCopies }: CompiledReaction,
  { event, externalId }: EventToProcess,
  { record, isOverdue, personalNames }: EvaluationInput,
): Plan | undefined {
  if (reaction.source !== null && reaction.source !== event.source) return undefined;
  if (event.receivedAt < reaction.appliesFrom) return undefined;
  const result = resultOfVerdict(condition?.(record(), isOverdue) ?? 'met');
  if (result !== undefined) return { reaction, result };
  const copied = personalNames === undefined ? [] : (sharedCopies?.(personalNames) ?? []);
  if (copied.length > 0) return { reaction, result: { outcome: 'failed', faults: copied } };
  const changesParticipant = reaction.ops.some(({ path }) => parseVariablePath(path)?.scope === 'user');
  if (changesParticipant && externalId === null) {
    return { reaction, result: { outcome: 'waiting_for_customer' } };
  }
  const found = operationsFor(reaction.ops, record);
  if ('faults' in found) return { reaction, result: { outcome: 'failed', faults: found.faults } };
  return { reaction, operations: found.operations, subject: changesParticipant ? externalId : null };
}

/** The record of a reaction in the event's processing record. */
export function outcomeOf({ campaignId, name }: ReactionName, result: ReactionResult): ReactionRecord {
  const { outcome } = result;
  const reason = reasonOfResult(result);
  return { campaignId, name, outcome, ...(reason === undefined ? {} : { reason }) };
}

function reasonOfResult(result: ReactionResult): string | undefined {
  switch (result.outcome) {
    case 'applied':
    case 'waiting_for_customer':
      return undefined;
    case 'skipped':
      return result.reason;
    case 'failed':
      return result.faults[0]?.code;
  }
}

/**
 * The records of an event that are not evaluated again: all but those that waited for a customer who is linked now. So
 * an applied reaction is never applied again, however the customer or the reaction changed since.
 */
export function finalRecords({ recorded, externalId }: EventToProcess): readonly ReactionRecord[] {
  return recorded.filter(({ outcome }) => outcome !== 'waiting_for_customer' || externalId === null);
}

/** New records of reactions that waited but are not among the `planned` ones: they are no longer in force. */
export function notInForceRecords(
  { recorded, externalId }: EventToProcess,
  planned: readonly ReactionName[],
): readonly ReactionRecord[] {
  if (externalId === null) return [];
  return recorded
    .filter((each) => each.outcome === 'waiting_for_customer' && !planned.some((other) => isSameName(each, other)))
    .map((each) => outcomeOf(each, { outcome: 'skipped', reason: 'not_in_force' }));
}

export function isSameName(a: ReactionName, b: ReactionName): boolean {
  return a.campaignId === b.campaignId && a.name === b.name;
}

/** The faults of one reaction; path and message name the reaction. */
export function faultsOfReaction({ campaignId, name }: ReactionRule, result: ReactionResult): readonly Fault[] {
  if (result.outcome !== 'failed') return [];
  const [shownCampaign, shownReaction] = [shownName(campaignId), shownName(name)];
  return result.faults.map(({ path, code, message }) => ({
    path: `reactions[${shownCampaign}/${shownReaction}].${path}`,
    code,
    message: `The reaction ${shownReaction} of the campaign ${shownCampaign} failed: ${message}`,
  }));
}

/** Undefined: no reaction failed. */
export function failureOfFaults(details: readonly Fault[]): EffectFailure | undefined {
  const [first] = details;
  return first === undefined ? undefined : { code: first.code, message: describeFaults(details), details };
}

const OVERDUE: Fault = {
  path: 'when',
  code: 'timed_out',
  message:
    'when took longer than the limit with this event; unless the machine is overloaded, make the condition simpler.',
};

const TOO_COSTLY: Fault = {
  path: 'when',
  code: 'too_costly',
  message: 'when costs more than the limit with an event as large as this one; compare less, or shorter values.',
};

const CONDITION_FAILED: Fault = {
  path: 'when',
  code: 'condition_failed',
  message:
    'when cannot be evaluated with this event, for example because it compares a text with a number; use values that the event has.',
};

/** Undefined: the condition is met. */
function resultOfVerdict(verdict: Verdict): ReactionResult | undefined {
  switch (verdict) {
    case 'met':
      return undefined;
    case 'unmet':
      return { outcome: 'skipped', reason: 'condition' };
    case 'overdue':
      return { outcome: 'failed', faults: [OVERDUE], mayRetry: true };
    case 'too_costly':
      return { outcome: 'failed', faults: [TOO_COSTLY] };
    case 'failed':
      return { outcome: 'failed', faults: [CONDITION_FAILED] };
  }
}
