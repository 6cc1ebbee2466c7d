import { Injectable } from '@nestjs/common';
import type { QueuePartition } from '../ingest/queue/queue-partition';
import { EventQueue, type QueueEntry } from '../ingest/queue/event-queue';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import type { EffectFailure, EffectResult } from './domain/event-effects';
import { attemptDelayMs } from './domain/retry-delay';
import { waitingRecord } from './domain/settled-entry';
import { failureOf, INTERRUPTED, isDatabaseAway } from './effect-errors';
import { bisect, withinSavepoint } from './effect-scope';
import { ParkedEvents, type EntryToPark } from './parked-events';
import { QueueLeases } from './queue-leases';
import { QueueOrder, type ArrangedEntries, type ReadyEntry } from './queue-order';
import { QueueTurns, type CutOffTurns } from './queue-turns';
import { Settlement } from './settlement';

/** What a turn at a place has come to. */
export interface TurnOutcome {
  /** Entries that have left the queue. */
  readonly taken: number;
  /** The place has more to do now. */
  readonly isMore: boolean;
  /** The place has entries that wait for others elsewhere. */
  readonly isWaiting: boolean;
  /** Where events were queued again that had waited for their customer. */
  readonly released: readonly QueuePartition[];
}

/** What is done in one transaction: enough to make its commit a small part of the cost, little enough to take some milliseconds. */
export const ENTRIES_MAX = 100;
/** How many times as many entries are looked at when those at the front wait for others elsewhere. */
const WINDOWS_MAX = 10;
const NOTHING: TurnOutcome = { taken: 0, isMore: false, isWaiting: false, released: [] };

/** What became of an entry in a turn: it is through, or it may succeed another time. */
type Settled = { readonly entry: ReadyEntry } & (
  { readonly result: EffectResult } | { readonly failure: EffectFailure }
);

export interface TurnOptions {
  /** By which the turn is known as long as it has not ended. */
  readonly turnId: string;
  /**
   * What fails is undone by itself, and parked, so that it costs the others nothing; to be used when the same has failed as a
   * whole.
   */
  readonly carefully: boolean;
}

/**
 * One turn at a place of the queue, in one transaction: takes the lease, reads the next entries, applies the effects, writes
 * down what became of the events and removes the entries. All of it has happened or nothing, so every effect happens once.
 *
 * That it has begun is written down before, and committed. Behind a turn that was cut off, its entries are tried one in a turn,
 * until the one is found that is cut off again; that one is parked like any that has failed.
 */
@Injectable()
export class QueueBatch {
  constructor(
    private readonly leases: QueueLeases,
    private readonly turns: QueueTurns,
    private readonly queue: EventQueue,
    private readonly order: QueueOrder,
    private readonly parked: ParkedEvents,
    private readonly settlement: Settlement,
  ) {}

  async run(transaction: Transaction, place: QueuePartition, options: TurnOptions): Promise<TurnOutcome> {
    // What is read here is read behind the lock, in statements that see what the last holder has committed.
    const [isTaken, cutOff, front] = await Promise.all([
      this.leases.take(transaction, place),
      this.turns.cutOff(transaction, place),
      this.queue.read(transaction, place, ENTRIES_MAX),
    ]);
    if (!isTaken) return NOTHING;
    if (front.length === 0) {
      if (cutOff.entries > 0) this.turns.end(transaction, place);
      return NOTHING;
    }
    if (cutOff.entries > 0) return this.runOne(transaction, place, front, { ...options, cutOff });
    const [{ arrangement, isFull }] = await Promise.all([
      this.arrange(transaction, place, front),
      this.turns.begin(place, options.turnId, { entries: front.length, eventId: null }),
    ]);
    const { ready, behind, deferred, released } = arrangement;
    const settled = options.carefully
      ? await this.applyEach(transaction, ready)
      : await this.applyAll(transaction, ready);
    const gone = this.writeDown(transaction, place, { settled, behind, attempts: 1 });
    this.turns.end(transaction, place);
    const isMore = isFull || settled.length < ready.length;
    return { taken: gone, isMore: isMore && gone > 0, isWaiting: deferred.length > 0, released };
  }

  /** A turn with the first entry alone, for as many turns as others have been cut off with entries. */
  private async runOne(
    transaction: Transaction,
    place: QueuePartition,
    front: readonly QueueEntry[],
    { turnId, cutOff }: TurnOptions & { readonly cutOff: CutOffTurns },
  ): Promise<TurnOutcome> {
    const { arrangement } = await this.arrange(transaction, place, front);
    const { ready, behind, deferred, released } = arrangement;
    const entries = Math.min(cutOff.entries, front.length);
    const found = ready.find(({ eventId }) => eventId === cutOff.eventId);
    const entry = found ?? ready[0];
    let settled: readonly Settled[] = [];
    if (found !== undefined) settled = [{ entry: found, failure: INTERRUPTED }];
    else if (entry !== undefined) {
      await this.turns.begin(place, turnId, { entries, eventId: entry.eventId });
      settled = await this.applyEach(transaction, [entry]);
    }
    // The turn that was cut off was the first attempt.
    const gone = this.writeDown(transaction, place, { settled, behind, attempts: 2 });
    this.turns.end(transaction, place, entries - settled.length);
    return { taken: gone, isMore: gone > 0, isWaiting: deferred.length > 0, released };
  }

  /** What may be done now of the first entries; where nothing may, of those behind them. */
  private async arrange(
    transaction: Transaction,
    place: QueuePartition,
    front: readonly QueueEntry[],
  ): Promise<{ arrangement: ArrangedEntries; isFull: boolean }> {
    const held = new Set<string>();
    let entries = front;
    for (let window = 1; ; window += 1) {
      const arrangement = await this.order.arrange(transaction, place, entries, held);
      const isFull = entries.length === ENTRIES_MAX;
      const last = entries.at(-1);
      const isFound = arrangement.ready.length + arrangement.behind.length + arrangement.released.length > 0;
      if (isFound || !isFull || last === undefined || window === WINDOWS_MAX) return { arrangement, isFull };
      entries = await this.queue.read(transaction, place, ENTRIES_MAX, last);
    }
  }

  /** The first of them; what effects have left for another time stays in the queue. */
  private async applyAll(transaction: Transaction, entries: readonly ReadyEntry[]): Promise<Settled[]> {
    const results = await this.settlement.apply(transaction, entries);
    return entries.slice(0, results.length).map((entry, index) => {
      const result = results[index] ?? { reactions: [] };
      return result.mayRetry === true && result.failure !== undefined
        ? { entry, failure: result.failure }
        : { entry, result };
    });
  }

  /** What fails alone is left with its failure; of its customer nothing more is done. */
  private async applyEach(transaction: Transaction, entries: readonly ReadyEntry[]): Promise<Settled[]> {
    const settled: Settled[] = [];
    const failed = new Set<string>();
    let isOver = false;
    await bisect(
      entries,
      async (part) => {
        const ofPart = await withinSavepoint(transaction, (inner) => this.applyAll(inner, part));
        settled.push(...ofPart);
        isOver ||= ofPart.length < part.length;
      },
      {
        select: (part) => (isOver ? [] : part.filter(({ rootId }) => !failed.has(rootId))),
        mayBisect: (error) => !isDatabaseAway(error),
        failed: (entry, error) => {
          failed.add(entry.rootId);
          settled.push({ entry, failure: failureOf(error) });
        },
      },
    );
    return settled;
  }

  /** Answers how many entries have left the queue. */
  private writeDown(
    transaction: Transaction,
    place: QueuePartition,
    turn: {
      readonly settled: readonly Settled[];
      readonly behind: readonly ReadyEntry[];
      readonly attempts: number;
    },
  ): number {
    const { settled, behind, attempts } = turn;
    const finished = settled.flatMap((each) => ('result' in each ? [{ ...each, attempts }] : []));
    const failed = settled.flatMap((each) => ('failure' in each ? [each] : []));
    this.settlement.finish(transaction, place, finished);
    this.queue.writeDown(
      transaction,
      place.tenantId,
      failed.map(({ entry, failure }) => waitingRecord(entry, attempts, failure)),
    );
    const parked: EntryToPark[] = [
      ...failed.map(({ entry }) => ({ ...entry, attempts, delayMs: attemptDelayMs(attempts, Math.random()) ?? 0 })),
      ...behind.map((entry) => ({ ...entry, attempts: 0, delayMs: null })),
    ];
    this.parked.park(transaction, place, parked);
    const gone = [...finished.map(({ entry }) => entry), ...parked];
    this.queue.remove(transaction, place, gone);
    return gone.length;
  }
}
