import { Injectable } from '@nestjs/common';
import type { QueuePlace } from '../ingest/domain/queue-place';
import { EventQueue, type QueueEntry } from '../ingest/event-queue';
import type { Transaction } from '../platform/database/pipelined-connection';
import type { Arrangement } from './domain/arrange-entries';
import type { EffectResult } from './domain/event-effects';
import { retryDelayMs } from './domain/retry-delay';
import { waitingRecord } from './domain/settled-entry';
import { failureOf, isDatabaseAway } from './effect-errors';
import { bisect, withinSavepoint } from './effect-scope';
import { ParkedEvents, type EntryToPark } from './parked-events';
import { QueueLeases } from './queue-leases';
import { QueueOrder, type ReadyEntry } from './queue-order';
import { Settlement } from './settlement';

/** What a turn at a place has come to. */
export interface TurnOutcome {
  /** Entries that have left the queue. */
  readonly taken: number;
  /** The place has more to do now. */
  readonly isMore: boolean;
  /** The place has entries that wait for others elsewhere. */
  readonly isWaiting: boolean;
}

/** What is done in one transaction: enough to make its commit a small part of the cost, little enough to take some milliseconds. */
export const ENTRIES_MAX = 100;
/** How many times as many entries are looked at when those at the front wait for others elsewhere. */
const WINDOWS_MAX = 10;
const NOTHING: TurnOutcome = { taken: 0, isMore: false, isWaiting: false };

type Settled = { readonly entry: ReadyEntry } & ({ readonly result: EffectResult } | { readonly error: unknown });

/**
 * One turn at a place of the queue, in one transaction: takes the lease, reads the next entries, applies the effects, writes
 * down what became of the events and removes the entries. All of it has happened or nothing, so every effect happens once.
 */
@Injectable()
export class QueueBatch {
  constructor(
    private readonly leases: QueueLeases,
    private readonly queue: EventQueue,
    private readonly order: QueueOrder,
    private readonly parked: ParkedEvents,
    private readonly settlement: Settlement,
  ) {}

  /**
   * `carefully`: what fails is undone by itself, and parked, so that it costs the others nothing; to be used when the same
   * has failed as a whole.
   */
  async run(
    transaction: Transaction,
    place: QueuePlace,
    { carefully }: { readonly carefully: boolean },
  ): Promise<TurnOutcome> {
    // The entries are read behind the lock, in a statement that sees what the last holder has committed.
    const [isTaken, front] = await Promise.all([
      this.leases.take(transaction, place),
      this.queue.read(transaction, place, ENTRIES_MAX),
    ]);
    if (!isTaken || front.length === 0) return NOTHING;
    const { arrangement, isFull } = await this.arrange(transaction, place, front);
    const { ready, behind, deferred } = arrangement;
    const settled = carefully ? await this.applyEach(transaction, ready) : await this.applyAll(transaction, ready);
    const gone = this.writeDown(transaction, place, settled, behind);
    return { taken: gone, isMore: isFull && gone > 0, isWaiting: deferred.length > 0 };
  }

  /** What may be done now of the first entries; where nothing may, of those behind them. */
  private async arrange(
    transaction: Transaction,
    place: QueuePlace,
    front: readonly QueueEntry[],
  ): Promise<{ arrangement: Arrangement<ReadyEntry>; isFull: boolean }> {
    const held = new Set<string>();
    let entries = front;
    for (let window = 1; ; window += 1) {
      const arrangement = await this.order.arrange(transaction, place, entries, held);
      const isFull = entries.length === ENTRIES_MAX;
      const last = entries.at(-1);
      const isFound = arrangement.ready.length + arrangement.behind.length > 0;
      if (isFound || !isFull || last === undefined || window === WINDOWS_MAX) return { arrangement, isFull };
      entries = await this.queue.read(transaction, place, ENTRIES_MAX, last);
    }
  }

  private async applyAll(transaction: Transaction, entries: readonly ReadyEntry[]): Promise<Settled[]> {
    const results = await this.settlement.apply(transaction, entries);
    return entries.map((entry, index) => ({ entry, result: results[index] ?? { reactions: [] } }));
  }

  /** What fails alone is left with its error; of its customer nothing more is done. */
  private async applyEach(transaction: Transaction, entries: readonly ReadyEntry[]): Promise<Settled[]> {
    const settled: Settled[] = [];
    const failed = new Set<string>();
    await bisect(
      entries,
      async (part) => {
        settled.push(...(await withinSavepoint(transaction, (inner) => this.applyAll(inner, part))));
      },
      {
        select: (part) => part.filter(({ rootId }) => !failed.has(rootId)),
        mayBisect: (error) => !isDatabaseAway(error),
        failed: (entry, error) => {
          failed.add(entry.rootId);
          settled.push({ entry, error });
        },
      },
    );
    return settled;
  }

  /** Answers how many entries have left the queue. */
  private writeDown(
    transaction: Transaction,
    place: QueuePlace,
    settled: readonly Settled[],
    behind: readonly ReadyEntry[],
  ): number {
    const finished = settled.flatMap((each) => ('result' in each ? [{ ...each, attempts: 1 }] : []));
    const failed = settled.flatMap((each) => ('error' in each ? [each] : []));
    this.settlement.finish(transaction, place, finished);
    this.queue.writeDown(
      transaction,
      place.tenantId,
      failed.map(({ entry, error }) => waitingRecord(entry.eventId, 1, failureOf(error))),
    );
    const parked: EntryToPark[] = [
      ...failed.map(({ entry }) => ({ ...entry, attempts: 1, delayMs: retryDelayMs(1, Math.random()) ?? 0 })),
      ...behind.map((entry) => ({ ...entry, attempts: 0, delayMs: null })),
    ];
    this.parked.park(transaction, place, parked);
    const gone = [...finished.map(({ entry }) => entry), ...parked];
    this.queue.remove(transaction, place, gone);
    return gone.length;
  }
}
