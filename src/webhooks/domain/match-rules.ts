import type { Fault } from '../../platform/errors/fault';
import type { CompiledCondition, Verdict } from '../../reactions/domain/compile-condition';
import type { EventRecord } from '../../reactions/domain/event-record';
import type { LoggedEvent } from '../../ingest/domain/event';

/** A rule of an endpoint for a type of events, with its compiled condition. */
export interface RuleToMatch {
  readonly endpointId: string;
  readonly source: string | null;
  readonly appliesFrom: Date;
  /** Undefined: all events of its type and source. */
  readonly condition: CompiledCondition | undefined;
}

/** Whether the endpoint of a rule gets an event. `fault`: the condition could not be evaluated. */
export type RuleMatch = { readonly matches: boolean } | { readonly fault: Fault; readonly mayRetry: boolean };

/** Evaluates one rule with an event of its type. */
export function matchRule(
  { endpointId, source, appliesFrom, condition }: RuleToMatch,
  event: LoggedEvent,
  record: () => EventRecord,
  isOverdue: () => boolean,
): RuleMatch {
  if (source !== null && source !== event.source) return { matches: false };
  if (event.receivedAt < appliesFrom) return { matches: false };
  const verdict = condition?.(record(), isOverdue) ?? 'met';
  if (verdict === 'met' || verdict === 'unmet') return { matches: verdict === 'met' };
  return { fault: { path: `webhooks[${endpointId}].when`, ...FAULTS[verdict] }, mayRetry: verdict === 'overdue' };
}

const FAULTS: Readonly<Record<Exclude<Verdict, 'met' | 'unmet'>, Omit<Fault, 'path'>>> = {
  overdue: {
    code: 'timed_out',
    message: 'when of a webhook took longer than the limit with this event; make the condition simpler.',
  },
  too_costly: {
    code: 'too_costly',
    message: 'when of a webhook costs more than the limit with an event as large as this one; compare less.',
  },
  failed: {
    code: 'condition_failed',
    message: 'when of a webhook cannot be evaluated with this event; use values that the event has.',
  },
};
