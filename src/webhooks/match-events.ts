import type { Fault } from '../platform/errors/fault';
import { kindName } from '../ingest/domain/event';
import type { EventToProcess } from '../processing/domain/event-effects';
import { recordOf, type EventRecord } from '../reactions/domain/event-record';
import { EvaluationTime } from '../reactions/evaluation-time';
import { matchRule, type RuleToMatch } from './domain/match-rules';

/** What the rules say about one event. */
export interface EventMatch {
  readonly endpointIds: ReadonlySet<string>;
  readonly faults: readonly Fault[];
  /** A condition took too long; another attempt may succeed. */
  readonly mayRetry: boolean;
}

/**
 * Evaluates the rules with each event, in their order. Stops after an event that must be retried, or when the time is
 * used up. `known`: the rules by `kindName`.
 */
export async function matchEvents(
  events: readonly EventToProcess[],
  known: ReadonlyMap<string, readonly RuleToMatch[]>,
): Promise<EventMatch[]> {
  const time = new EvaluationTime();
  const all: EventMatch[] = [];
  for (const { tenantId, event } of events) {
    const endpointIds = new Set<string>();
    const faults: Fault[] = [];
    let mayRetry = false;
    let record: EventRecord | undefined;
    time.beginEvent();
    for (const rule of known.get(kindName({ tenantId, eventType: event.eventType })) ?? []) {
      if (endpointIds.has(rule.endpointId)) continue;
      const match = time.measure((isOverdue) => matchRule(rule, event, () => (record ??= recordOf(event)), isOverdue));
      if ('fault' in match) faults.push(match.fault);
      else if (match.matches) endpointIds.add(rule.endpointId);
      mayRetry = 'fault' in match && match.mayRetry;
      if (mayRetry) break;
      if (time.isBlockedLong()) await time.release();
    }
    all.push({ endpointIds, faults, mayRetry });
    if (mayRetry || time.isUsedUp()) break;
  }
  return all;
}
