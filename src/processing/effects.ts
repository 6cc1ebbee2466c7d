import { Injectable } from '@nestjs/common';
import { EventSubscriptions } from '../ingest/store/event-subscriptions';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import type { EffectFailure, EffectPlan, EffectResult, EventEffect, EventToProcess } from './domain/event-effects';

/** The effects of events that leave the queue. Features register them; the worker knows only this registry. */
@Injectable()
export class EventEffects {
  private readonly effects: EventEffect[] = [];

  constructor(private readonly subscriptions: EventSubscriptions) {}

  /** Must be called while the application starts. */
  register(effect: EventEffect): void {
    this.effects.push(effect);
    this.subscriptions.addQuery(effect.concerned);
  }

  /**
   * Applies all effects. Returns results in the order of the events, possibly for the first ones only; the last one may
   * have to be tried again. All effects decide before one of them writes, so none is applied to an event that another
   * one leaves in the queue or has tried again.
   */
  async apply(transaction: Transaction, events: readonly EventToProcess[]): Promise<readonly EffectResult[]> {
    const plans: EffectPlan[] = [];
    let count = events.length;
    let retry: EffectFailure | undefined;
    for (const effect of this.effects) {
      if (count === 0) break;
      const plan = await effect.plan(transaction, events.slice(0, count));
      assertTakesSome(plan, count);
      if (plan.count < count) ({ count, retry } = plan);
      plans.push(plan);
    }
    let merged: readonly EffectResult[] = Array.from({ length: count }, () => ({ reactions: [] }));
    for (const plan of count === 0 ? [] : plans) {
      const results = await plan.apply(count);
      if (results.length !== count) throw new Error('An effect returned another number of results than was asked for');
      merged = results.map((next, index) => mergeResults(merged[index], next));
    }
    return retry === undefined ? merged : [...merged, { reactions: [], failure: retry, mayRetry: true }];
  }
}

function assertTakesSome({ count, retry }: EffectPlan, eventsMax: number): void {
  if (count > eventsMax || (count === 0 && retry === undefined)) {
    throw new Error('An effect takes no event, or more than there are');
  }
}

/** Keeps the first failure, and the reactions of all effects. */
function mergeResults(before: EffectResult | undefined, next: EffectResult): EffectResult {
  const reactions = [...(before?.reactions ?? []), ...next.reactions];
  const failure = before?.failure ?? next.failure;
  return failure === undefined ? { reactions } : { reactions, failure };
}
