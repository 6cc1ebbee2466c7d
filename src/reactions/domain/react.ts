import { describeFaults } from '../../platform/errors/describe-faults';
import type { Fault } from '../../platform/errors/fault';
import { shownName } from '../../platform/errors/fault-words';
import type { EffectFailure, EventToProcess, ReactionRecord } from '../../processing/domain/event-effects';
import type { Operation } from '../../runtime/domain/operation';
import { parseVariablePath } from '../../variables/domain/variable';
import type { CompiledCondition } from './compile-condition';
import type { EventRecord } from './event-record';
import type { PersonalNames, SharedCopies } from './personal-data';
import type { ReactionRule, ReactionName } from './reaction';
import { operationsFor } from './reaction-operations';

/** A reaction that is ready to be asked. */
export interface ReadyReaction {
  readonly reaction: ReactionRule;
  /** Undefined: it is for every event of its type and source. */
  readonly condition: CompiledCondition | undefined;
  /** Undefined: it copies nothing of an event to values that are not the participant's. */
  readonly sharedCopies: SharedCopies | undefined;
}

/** What a reaction is asked with, beside the event. */
export interface EvaluationContext {
  readonly record: () => EventRecord;
  readonly isOverdue?: () => boolean;
  /** Properties of the event's type that are personal, where `sharedCopies` are to be looked at. */
  readonly personalNames?: PersonalNames | undefined;
}

/** What a reaction has to do with an event: it is done with it already, or there are operations to apply. */
export type Plan =
  | { readonly reaction: ReactionRule; readonly result: ReactionResult }
  | { readonly reaction: ReactionRule; readonly operations: readonly Operation[]; readonly subject: string | null };

/**
 * What became of one reaction; faults say why it failed. `not_in_force`: when its customer was linked, there was no such reaction to
 * the event any more.
 */
export type ReactionResult =
  | { readonly outcome: 'applied' }
  | { readonly outcome: 'waiting_for_customer' }
  | { readonly outcome: 'skipped'; readonly reason: 'condition' | 'not_in_force' }
  | { readonly outcome: 'failed'; readonly faults: readonly Fault[]; readonly mayRetry?: true };

/**
 * What a reaction to this type does with an event; undefined: it has nothing to do with it. In a plan with operations, `subject`
 * is the participant whose values they change, null when they change nobody's own.
 */
export function planReaction(
  { reaction, condition, sharedCopies }: ReadyReaction,
  { event, externalId }: EventToProcess,
  { record, isOverdue, personalNames }: EvaluationContext,
): Plan | undefined {
  if (reaction.source !== null && reaction.source !== event.source) return undefined;
  if (event.receivedAt < reaction.appliesFrom) return undefined;
  const verdict = condition?.(record(), isOverdue) ?? 'met';
  if (verdict === 'unmet') return { reaction, result: { outcome: 'skipped', reason: 'condition' } };
  if (verdict === 'overdue') return { reaction, result: { outcome: 'failed', faults: [OVERDUE], mayRetry: true } };
  if (verdict !== 'met') return { reaction, result: { outcome: 'failed', faults: [conditionFault(verdict)] } };
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

/** What is written down with the event. */
export function outcomeOf({ campaignId, name }: ReactionName, result: ReactionResult): ReactionRecord {
  const { outcome } = result;
  if (outcome === 'applied' || outcome === 'waiting_for_customer') return { campaignId, name, outcome };
  const reason = outcome === 'skipped' ? result.reason : result.faults[0]?.code;
  return { campaignId, name, outcome, ...(reason === undefined ? {} : { reason }) };
}

/**
 * What stands of an event's record, and is not looked at again: everything but what waited for a customer who is linked now. So
 * what was applied is never applied again, whatever has become of the customer or of the reaction.
 */
export function keptRecords({ recorded, externalId }: EventToProcess): readonly ReactionRecord[] {
  return recorded.filter(({ outcome }) => outcome !== 'waiting_for_customer' || externalId === null);
}

/** The records of those that waited, and of which there was nothing to carry out: `planned` are the others. */
export function outOfForceRecords(
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

/** The faults of one reaction among those of others, each saying whose it is. */
export function faultsOfReaction({ campaignId, name }: ReactionRule, result: ReactionResult): readonly Fault[] {
  if (result.outcome !== 'failed') return [];
  const [shownCampaign, shownReaction] = [shownName(campaignId), shownName(name)];
  return result.faults.map(({ path, code, message }) => ({
    path: `reactions[${shownCampaign}/${shownReaction}].${path}`,
    code,
    message: `The reaction ${shownReaction} of the campaign ${shownCampaign} has failed: ${message}`,
  }));
}

/** Undefined: nothing has failed. */
export function failureOfFaults(details: readonly Fault[]): EffectFailure | undefined {
  const [first] = details;
  return first === undefined ? undefined : { code: first.code, message: describeFaults(details), details };
}

const OVERDUE: Fault = {
  path: 'when',
  code: 'timed_out',
  message:
    'when took longer with this event than a condition may; where the machine is not overloaded, make it simpler.',
};

function conditionFault(verdict: 'failed' | 'too_costly'): Fault {
  if (verdict === 'too_costly') {
    return {
      path: 'when',
      code: 'too_costly',
      message: 'when costs more than it may with an event as large as this one; compare less, or shorter values.',
    };
  }
  const message =
    'when cannot be worked out with this event, for example because it compares a text with a number; ask for what the event has.';
  return { path: 'when', code: 'condition_failed', message };
}
