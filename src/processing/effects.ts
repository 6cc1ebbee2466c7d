import { Injectable } from '@nestjs/common';
import { EventAudience } from '../ingest/event-audience';
import type { Transaction } from '../platform/database/pipelined-connection';
import type { EffectResult, EventEffect, EventToProcess } from './domain/event-effects';

/** Where rooms say what they do with events that leave the queue; the workers know none of them. */
@Injectable()
export class EventEffects {
  private readonly effects: EventEffect[] = [];

  constructor(private readonly audience: EventAudience) {}

  /** To be called while the application starts. */
  register(effect: EventEffect): void {
    this.effects.push(effect);
    this.audience.askBy(effect.concerned);
  }

  /** Applies all of them, one after the other, and answers one result for each event, in their order. */
  async apply(transaction: Transaction, events: readonly EventToProcess[]): Promise<readonly EffectResult[]> {
    let merged: readonly EffectResult[] = events.map(() => ({ reactions: [] }));
    for (const effect of this.effects) {
      const results = await effect.apply(transaction, events);
      if (results.length !== events.length) throw new Error('An effect has left events without a result');
      merged = merged.map((before, index) => together(before, results[index]));
    }
    return merged;
  }
}

/** Of several failures the first is told; what was applied is told of all. */
function together(before: EffectResult, next: EffectResult | undefined): EffectResult {
  const reactions = [...before.reactions, ...(next?.reactions ?? [])];
  const failure = before.failure ?? next?.failure;
  return failure === undefined ? { reactions } : { reactions, failure };
}
