import { Injectable } from '@nestjs/common';
import { EventSubscriptions } from '../ingest/store/event-subscriptions';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import type { EffectResult, EventEffect, EventToProcess } from './domain/event-effects';

/** Where rooms say what they do with events that leave the queue; the workers know none of them. */
@Injectable()
export class EventEffects {
  private readonly effects: EventEffect[] = [];

  constructor(private readonly subscriptions: EventSubscriptions) {}

  /** To be called while the application starts. */
  register(effect: EventEffect): void {
    this.effects.push(effect);
    this.subscriptions.addQuery(effect.concerned);
  }

  /** Applies all of them, one after the other. Answers a result for each event, in their order, or for the first of them. */
  async apply(transaction: Transaction, events: readonly EventToProcess[]): Promise<readonly EffectResult[]> {
    let merged: readonly EffectResult[] = events.map(() => ({ reactions: [] }));
    for (const effect of this.effects) {
      const results = await effect.apply(transaction, events.slice(0, merged.length));
      assertInOrder(results, merged.length);
      merged = results.map((next, index) => together(merged[index], next));
    }
    return merged;
  }
}

function assertInOrder(results: readonly EffectResult[], eventsMax: number): void {
  if (results.length === 0 || results.length > eventsMax) throw new Error('An effect has answered for no event');
  if (results.slice(0, -1).some(({ mayRetry }) => mayRetry === true)) {
    throw new Error('An effect went on behind an event that is to be tried again');
  }
}

/** Of several failures one that may be retried is told, or the first; what was applied is told of all. */
function together(before: EffectResult | undefined, next: EffectResult): EffectResult {
  const reactions = [...(before?.reactions ?? []), ...next.reactions];
  const failing = [before, next].filter((each) => each?.failure !== undefined);
  const told = failing.find((each) => each?.mayRetry === true) ?? failing[0];
  if (told?.failure === undefined) return { reactions };
  return { reactions, failure: told.failure, ...(told.mayRetry === true ? { mayRetry: true } : {}) };
}
