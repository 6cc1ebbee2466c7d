import { Injectable, type OnModuleInit } from '@nestjs/common';
import { describeFaults } from '../platform/errors/describe-faults';
import type { Fault } from '../platform/errors/fault';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { EventEffects } from '../processing/effects';
import { type EffectResult, type EventEffect, type EventToProcess, kindName } from '../processing/domain/event-effects';
import { recordOf, type EventRecord } from '../reactions/domain/event-record';
import { EvaluationTime } from '../reactions/evaluation-time';
import { ADD_DELIVERIES } from './delivery/delivery.sql';
import { DeliverySignal } from './delivery/delivery-signal';
import { matchRule } from './domain/match-rules';
import { WebhookRuleCache, type CompiledRule } from './rule-cache';
import { FIND_SUBSCRIBED } from './webhook.sql';

/** What the rules say about one event. */
interface Matched {
  readonly endpointIds: ReadonlySet<string>;
  readonly faults: readonly Fault[];
  readonly mayRetry: boolean;
}

/**
 * Adds a delivery for each endpoint that an event is for, in the worker's transaction: once for each event and
 * endpoint, in the order in which the events of a customer are processed (contract section 15).
 */
@Injectable()
export class WebhookEffect implements EventEffect, OnModuleInit {
  readonly concerned = FIND_SUBSCRIBED;

  constructor(
    private readonly effects: EventEffects,
    private readonly cache: WebhookRuleCache,
    private readonly signal: DeliverySignal,
  ) {}

  onModuleInit(): void {
    this.effects.register(this);
  }

  async apply(transaction: Transaction, events: readonly EventToProcess[]): Promise<readonly EffectResult[]> {
    const rules = await this.cache.read(
      transaction,
      events.map(({ tenantId, event: { eventType } }) => ({ tenantId, eventType })),
    );
    const matched = await matchAll(events, rules);
    const added = matched.flatMap(({ endpointIds, mayRetry }, index) => {
      const event = events[index];
      return event === undefined || mayRetry ? [] : [...endpointIds].map((endpointId) => ({ endpointId, event }));
    });
    if (added.length > 0) {
      await transaction.send(ADD_DELIVERIES, [
        added.map(({ event }) => event.tenantId),
        added.map(({ endpointId }) => endpointId),
        added.map(({ event }) => event.ownProfileId),
        added.map(({ event }) => event.event.eventId),
      ]);
      this.signal.announce();
    }
    return matched.map(resultOf);
  }
}

/** In the order of the events. Stops after one that must be retried, or when the time is used up. */
async function matchAll(
  events: readonly EventToProcess[],
  known: ReadonlyMap<string, readonly CompiledRule[]>,
): Promise<Matched[]> {
  const time = new EvaluationTime();
  const all: Matched[] = [];
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

function resultOf({ faults, mayRetry }: Matched): EffectResult {
  const [first] = faults;
  if (first === undefined) return { reactions: [] };
  const failure = { code: first.code, message: describeFaults(faults), details: faults };
  return { reactions: [], failure, ...(mayRetry ? { mayRetry: true as const } : {}) };
}
