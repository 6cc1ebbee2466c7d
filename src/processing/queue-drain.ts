import { Injectable } from '@nestjs/common';
import { placeName, type QueuePlace } from '../ingest/domain/queue-place';
import { EventQueue } from '../ingest/event-queue';
import type { Transaction } from '../platform/database/pipelined-connection';
import { LostRaceError } from '../platform/lane/persist-batch';
import { EventEffects } from './effects';
import { QueueLeases } from './queue-leases';

/** What has come of draining places. */
export interface DrainOutcome {
  /** Workspaces whose events have to be looked at one by one; nothing of theirs has left the queue. */
  readonly eventful: ReadonlySet<string>;
  /** Names of places that may have more. */
  readonly full: ReadonlySet<string>;
}

/** Of each place: with its 64 places, a workspace gets rid of a thousand at a time. */
const ENTRIES_PER_PLACE_MAX = 16;

/**
 * Takes events out of the queue in bulk and unread where nothing is done with a workspace's events, as in most workspaces
 * nothing is: their order does not show, and none of them can fail.
 */
@Injectable()
export class QueueDrain {
  constructor(
    private readonly leases: QueueLeases,
    private readonly queue: EventQueue,
    private readonly effects: EventEffects,
  ) {}

  /**
   * Drains these places as far as they are free, in one transaction. Throws `LostRaceError` where something to be done came up
   * meanwhile: an event that was received after that must meet it.
   */
  async run(transaction: Transaction, places: readonly QueuePlace[]): Promise<DrainOutcome> {
    const [held, eventful] = await Promise.all([
      this.leases.take(transaction, places),
      this.effects.concerned(transaction, workspacesOf(places)),
    ]);
    const quiet = held.filter(({ tenantId }) => !eventful.has(tenantId));
    // Asked again behind the entries: whatever was defined before one of these events came in is seen by now.
    const [drained, eventfulSince] = await Promise.all([
      this.queue.drain(transaction, quiet, ENTRIES_PER_PLACE_MAX),
      this.effects.concerned(transaction, workspacesOf(quiet)),
    ]);
    if (eventfulSince.size > 0) throw new LostRaceError('Something is to be done with events that were not looked at');
    this.leases.count(transaction, drained);
    const full = drained.filter(({ count }) => count === ENTRIES_PER_PLACE_MAX);
    return { eventful, full: new Set(full.map(placeName)) };
  }
}

function workspacesOf(places: readonly QueuePlace[]): string[] {
  return [...new Set(places.map(({ tenantId }) => tenantId))];
}
