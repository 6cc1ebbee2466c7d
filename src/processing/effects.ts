import { Injectable } from '@nestjs/common';
import { EventSubscriptions } from '../ingest/store/event-subscriptions';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import type { EffectResult, EventEffect, EventToProcess } from './domain/event-effects';

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
   * Applies all effects, one after the other. Returns results in the order of the events, possibly for the first ones
   * only.
   */
  async apply(transaction: Transaction, events: readonly EventToProcess[]): Promise<readonly EffectResult[]> {
    let merged: readonly EffectResult[] = events.map(() => ({ reactions: [] }));
    for (const effect of this.effects) {
      const results = await effect.apply(transaction, events.slice(0, merged.length));
      assertInOrder(results, merged.length);
      merged = results.map((next, index) => mergeResults(merged[index], next));
    }
    return merged;
  }
}

function assertInOrder(results: readonly EffectResult[], eventsMax: number): void {
  if (results.length === 0 || results.length > eventsMax) throw new Error('An effect returned no result, or too many');
  if (results.slice(0, -1).some(({ mayRetry }) => mayRetry === true)) {
    throw new Error('An effect went on after an event that must be retried');
  }
}

/** Keeps one failure: one that may be retried, else the first. Keeps the reactions of all effects. */
function mergeResults(before: EffectResult | undefined, next: EffectResult): EffectResult {
  const reactions = [...(before?.reactions ?? []), ...next.reactions];
  const failing = [before, next].filter((each) => each?.failure !== undefined);
  const first = failing.find((each) => each?.mayRetry === true) ?? failing[0];
  if (first?.failure === undefined) return { reactions };
  return { reactions, failure: first.failure, ...(first.mayRetry === true ? { mayRetry: true } : {}) };
}
