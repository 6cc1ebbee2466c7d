import { Injectable, type OnModuleInit } from '@nestjs/common';
import { describeFaults } from '../platform/errors/describe-faults';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { EventEffects } from '../processing/effects';
import type {
  EffectFailure,
  EffectPlan,
  EffectResult,
  EventEffect,
  EventToProcess,
} from '../processing/domain/event-effects';
import { ADD_DELIVERIES } from './delivery/delivery.sql';
import { DeliverySignal } from './delivery/delivery-signal';
import { matchEvents, type EventMatch } from './match-events';
import { EventRuleCache } from './event-rule-cache';
import { FIND_SUBSCRIBED } from './webhook.sql';

/**
 * Adds a delivery for each endpoint that an event is for, in the worker's transaction: once for each event and
 * endpoint, in the order in which the events of a customer are processed (contract section 15).
 */
@Injectable()
export class WebhookEffect implements EventEffect, OnModuleInit {
  readonly concerned = FIND_SUBSCRIBED;

  constructor(
    private readonly effects: EventEffects,
    private readonly cache: EventRuleCache,
    private readonly signal: DeliverySignal,
  ) {}

  onModuleInit(): void {
    this.effects.register(this);
  }

  async plan(transaction: Transaction, events: readonly EventToProcess[]): Promise<EffectPlan> {
    const { rules, count } = await this.cache.read(
      transaction,
      events.map(({ tenantId, event: { eventType } }) => ({ tenantId, eventType })),
    );
    const matched = await matchEvents(events.slice(0, count), rules);
    const last = matched.at(-1);
    const retry = last?.mayRetry === true ? failureIn(last) : undefined;
    return {
      count: retry === undefined ? matched.length : matched.length - 1,
      ...(retry === undefined ? {} : { retry }),
      apply: (first) => Promise.resolve(this.apply(transaction, events, matched.slice(0, first))),
    };
  }

  private apply(
    transaction: Transaction,
    events: readonly EventToProcess[],
    matched: readonly EventMatch[],
  ): readonly EffectResult[] {
    const added = matched.flatMap(({ endpointIds }, index) => {
      const event = events[index];
      return event === undefined ? [] : [...endpointIds].map((endpointId) => ({ endpointId, event }));
    });
    if (added.length > 0) {
      transaction.sendLast(ADD_DELIVERIES, [
        added.map(({ event }) => event.tenantId),
        added.map(({ endpointId }) => endpointId),
        added.map(({ event }) => event.ownProfileId),
        added.map(({ event }) => event.event.eventId),
      ]);
      const endpoints = added.map(({ event: { tenantId }, endpointId }) => ({ tenantId, endpointId }));
      transaction.afterCommit(() => this.signal.announce(endpoints));
    }
    return matched.map((each) => {
      const failure = failureIn(each);
      return failure === undefined ? { reactions: [] } : { reactions: [], failure };
    });
  }
}

function failureIn({ faults }: EventMatch): EffectFailure | undefined {
  const [first] = faults;
  return first === undefined ? undefined : { code: first.code, message: describeFaults(faults), details: faults };
}
