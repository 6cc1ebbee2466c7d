import { describeFaults } from '../../platform/errors/describe-faults';
import type { Fault } from '../../platform/errors/fault';
import { shownName } from '../../platform/errors/fault-words';
import type { ReactionRecord } from '../../ingest/queue/processing-record';
import type { EffectFailure, EventToProcess } from '../../processing/domain/event-effects';
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

export type MutationPlan = Extract<Plan, { readonly operations: unknown }>;

/**
 * The result of one reaction; faults say why it failed. `not_in_force`: the reaction waited for its customer, and was
 * gone or no longer applied to the event when the customer was linked. `superseded`: a later event had set all that a
 * backfill would have set. `period_over`: a backfill came to the event after the period in which it would have counted.
 * `limit_reached`: a value would have left its limits. `clamped`: at least one value was moved to its limit instead.
 */
export type ReactionResult =
  | { readonly outcome: 'applied'; readonly reason?: 'clamped' }
  | { readonly outcome: 'waiting_for_customer' }
  | { readonly outcome: 'skipped'; readonly reason: SkipReason }
  | { readonly outcome: 'failed'; readonly faults: readonly Fault[]; readonly mayRetry?: true };

type SkipReason = 'condition' | 'not_in_force' | 'superseded' | 'period_over' | 'limit_reached';

/**
 * Plans what a reaction to this event type does with an event; undefined: it does not apply to the event. In a plan
 * with operations, `subject` is the participant whose values they change; null: they change no `user` values.
 */
export function planReaction(
  { reaction, condition, sharedCopies }: CompiledReaction,
  toProcess: EventToProcess,
  { record, isOverdue, personalNames }: EvaluationInput,
): Plan | undefined {
  const { event, externalId } = toProcess;
  if (reaction.source !== null && reaction.source !== event.source) return undefined;
  if (!isInForceFor(reaction, toProcess)) return undefined;
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

/** When a backfill brought the reaction to the event; undefined: none did. */
export function backfilledAtOf(reaction: ReactionName, { backfilled }: EventToProcess): string | undefined {
  return backfilled.find((record) => isSameName(record, reaction))?.backfilledAt;
}

/**
 * Whether the reaction applies to the event for the time of its receipt, or because a backfill brought it there. A
 * reaction that was redefined for other events since then no longer does.
 */
export function isInForceFor(reaction: ReactionRule, toProcess: EventToProcess): boolean {
  const { appliesFrom } = reaction;
  if (toProcess.event.receivedAt >= appliesFrom) return true;
  const backfilledAt = backfilledAtOf(reaction, toProcess);
  return backfilledAt !== undefined && new Date(backfilledAt) >= appliesFrom;
}

/** The record of a reaction in the event's processing record. */
export function outcomeOf(
  { campaignId, name }: ReactionName,
  result: ReactionResult,
  backfilledAt?: string,
): ReactionRecord {
  const { outcome } = result;
  const reason = reasonOfResult(result);
  return {
    campaignId,
    name,
    outcome,
    ...(reason === undefined ? {} : { reason }),
    ...(backfilledAt === undefined ? {} : { backfilledAt }),
  };
}

function reasonOfResult(result: ReactionResult): string | undefined {
  switch (result.outcome) {
    case 'waiting_for_customer':
      return undefined;
    case 'applied':
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
  toProcess: EventToProcess,
  planned: readonly ReactionName[],
): readonly ReactionRecord[] {
  if (toProcess.externalId === null) return [];
  return toProcess.recorded
    .filter((each) => each.outcome === 'waiting_for_customer' && !planned.some((other) => isSameName(each, other)))
    .map((each) => outcomeOf(each, { outcome: 'skipped', reason: 'not_in_force' }, each.backfilledAt));
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

/** Only the last plan can have to be retried: planning stops after it. */
export function isAnyToRetry(plans: readonly Plan[]): boolean {
  const last = plans.at(-1);
  return last !== undefined && 'result' in last && last.result.outcome === 'failed' && last.result.mayRetry === true;
}

/**
 * Drops the plans before one that must be retried. The next attempt plans them again, so that reactions keep their
 * order.
 */
export function retriedAsAWhole(plans: readonly Plan[]): readonly Plan[] {
  return isAnyToRetry(plans) ? plans.slice(-1) : plans;
}

export function isMutationPlan(plan: Plan): plan is MutationPlan {
  return 'operations' in plan;
}
