import { describeFaults } from '../../platform/errors/describe-faults';
import type { Fault } from '../../platform/errors/fault';
import { shownName } from '../../platform/errors/fault-words';
import type { EffectFailure, EventToProcess, ReactionRecord } from '../../processing/domain/event-effects';
import type { Operation } from '../../runtime/domain/operation';
import { parseVariablePath } from '../../variables/domain/variable-path';
import type { CompiledCondition } from './compile-condition';
import type { EventRecord } from './event-record';
import type { Reaction } from './reaction';
import { operationsFor } from './reaction-operations';

/** A reaction that is ready to be asked. */
export interface ReadyReaction {
  readonly reaction: Reaction;
  /** Undefined: it is for every event of its type and source. */
  readonly condition: CompiledCondition | undefined;
}

/** What a reaction has to do with an event: it is done with it already, or there are operations to apply. */
export type Plan =
  | { readonly reaction: Reaction; readonly result: ReactionResult }
  | { readonly reaction: Reaction; readonly operations: readonly Operation[]; readonly subject: string | null };

/** What became of one reaction; faults say why it failed. */
export type ReactionResult =
  | { readonly outcome: 'applied' }
  | { readonly outcome: 'skipped'; readonly reason: 'condition' | 'no_external_identifier' }
  | { readonly outcome: 'failed'; readonly faults: readonly Fault[] };

/**
 * What a reaction to this type does with an event; undefined: it has nothing to do with it. In a plan with operations, `subject`
 * is the participant whose values they change, null when they change nobody's own.
 */
export function planReaction(
  { reaction, condition }: ReadyReaction,
  { event, externalId }: EventToProcess,
  record: () => EventRecord,
): Plan | undefined {
  if (reaction.source !== null && reaction.source !== event.source) return undefined;
  if (event.receivedAt < reaction.appliesFrom) return undefined;
  const verdict = condition?.(record()) ?? 'met';
  if (verdict === 'unmet') return { reaction, result: { outcome: 'skipped', reason: 'condition' } };
  if (verdict !== 'met') return { reaction, result: { outcome: 'failed', faults: [conditionFault(verdict)] } };
  const changesParticipant = reaction.ops.some(({ path }) => parseVariablePath(path)?.scope === 'user');
  if (changesParticipant && externalId === null) {
    return { reaction, result: { outcome: 'skipped', reason: 'no_external_identifier' } };
  }
  const found = operationsFor(reaction.ops, record);
  if ('faults' in found) return { reaction, result: { outcome: 'failed', faults: found.faults } };
  return { reaction, operations: found.operations, subject: changesParticipant ? externalId : null };
}

/** What is written down with the event. */
export function outcomeOf({ campaignId, name }: Reaction, result: ReactionResult): ReactionRecord {
  const { outcome } = result;
  if (outcome === 'applied') return { campaignId, name, outcome };
  const reason = outcome === 'skipped' ? result.reason : result.faults[0]?.code;
  return { campaignId, name, outcome, ...(reason === undefined ? {} : { reason }) };
}

/** The faults of one reaction among those of others, each saying whose it is. */
export function faultsOf({ campaignId, name }: Reaction, result: ReactionResult): readonly Fault[] {
  if (result.outcome !== 'failed') return [];
  const [shownCampaign, shownReaction] = [shownName(campaignId), shownName(name)];
  return result.faults.map(({ path, code, message }) => ({
    path: `reactions[${shownCampaign}/${shownReaction}].${path}`,
    code,
    message: `The reaction ${shownReaction} of the campaign ${shownCampaign} has failed: ${message}`,
  }));
}

/** Undefined: nothing has failed. */
export function failureOf(details: readonly Fault[]): EffectFailure | undefined {
  const [first] = details;
  return first === undefined ? undefined : { code: first.code, message: describeFaults(details), details };
}

function conditionFault(verdict: 'failed' | 'too_costly'): Fault {
  if (verdict === 'too_costly') {
    return { path: 'when', code: 'too_costly', message: 'when takes too long with an event like this one.' };
  }
  const message =
    'when cannot be worked out with this event, for example because it compares a text with a number; ask for what the event has.';
  return { path: 'when', code: 'condition_failed', message };
}
