import { Injectable } from '@nestjs/common';
import type { QueuePartition } from '../ingest/queue/queue-partition';
import { EventQueue, type QueueEntry } from '../ingest/queue/event-queue';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import type { EffectFailure, EffectResult } from './domain/event-effects';
import { attemptDelayMs, waitingRecord } from './domain/processing-outcome';
import { failureOf, INTERRUPTED, isDatabaseAway } from './effect-errors';
import { bisect, withinSavepoint } from './effect-scope';
import { ParkedEvents } from './parked-events';
import type { EntryToPark } from './processing.sql';
import { QueueLeases } from './queue-leases';
import { QueueOrder, type ArrangedEntries, type ReadyEntry } from './queue-order';
import { QueueTurns, type InterruptedTurns } from './queue-turns';
import { EventProcessor } from './event-processor';

/** The result of a turn. */
export interface TurnOutcome {
  /** False: another worker has it, or its row is not there. */
  readonly hasLease: boolean;
  /** Entries that left the queue. */
  readonly taken: number;
  /** The partition has more entries that are ready now. */
  readonly isMore: boolean;
  /** The partition has entries that wait for earlier ones in other partitions. */
  readonly isWaiting: boolean;
  /** Partitions into which events returned that had waited for their customer. */
  readonly released: readonly QueuePartition[];
}

/**
 * Per transaction. Round trips and the commit cost as much as 50 entries (docs/adr/0081); with 250, a turn takes some
 * 30 ms, and events of the largest size take 16 MiB.
 */
const ENTRIES_MAX = 250;
/** So many times entries are read while there is room, because those before wait for earlier entries. */
const WINDOWS_MAX = 10;
const NOTHING: TurnOutcome = { hasLease: true, taken: 0, isMore: false, isWaiting: false, released: [] };

/**
 * The result of an entry in a turn. `result`: processed, or failed for good. `failure`: another attempt may succeed.
 */
type TriedEntry = { readonly entry: ReadyEntry } & (
  { readonly result: EffectResult } | { readonly failure: EffectFailure }
);

/** The entries of a turn, at most `ENTRIES_MAX`. `ready`, `behind`, `released`: see `ArrangedEntries`. */
interface TurnEntries extends Omit<ArrangedEntries, 'deferred'> {
  /** Whether some of those that were read wait for earlier entries of their customers. */
  readonly isWaiting: boolean;
  /** Whether there may be more that are ready. */
  readonly isFull: boolean;
}

export interface TurnOptions {
  /** Identifies the turn until it has ended. */
  readonly turnId: string;
  /**
   * Each failing entry is rolled back by itself and parked, so that the others succeed. For use after the whole batch
   * failed.
   */
  readonly carefully: boolean;
}

/**
 * One turn of a partition, in one transaction: takes the lease, reads the next entries, applies the effects, stores the
 * processing records and removes the entries. Either all of it happens or nothing, so every effect happens once.
 *
 * The start of a turn is committed before, by another connection. After an interrupted turn its entries are tried one
 * per turn, until one is interrupted again; that entry is parked like any other that failed.
 */
@Injectable()
export class QueueBatch {
  constructor(
    private readonly leases: QueueLeases,
    private readonly turns: QueueTurns,
    private readonly queue: EventQueue,
    private readonly order: QueueOrder,
    private readonly parked: ParkedEvents,
    private readonly processor: EventProcessor,
  ) {}

  async run(transaction: Transaction, partition: QueuePartition, options: TurnOptions): Promise<TurnOutcome> {
    // These statements run after the lock, so they see what its last holder committed.
    const [isTaken, interrupted, front] = await Promise.all([
      this.leases.take(transaction, partition),
      this.turns.interrupted(transaction, partition),
      this.queue.read(transaction, partition, ENTRIES_MAX),
    ]);
    if (!isTaken) return { ...NOTHING, hasLease: false };
    if (front.length === 0) {
      if (interrupted.entries > 0) this.turns.end(transaction, partition);
      return NOTHING;
    }
    if (interrupted.entries > 0) return this.runOne(transaction, partition, front, { ...options, interrupted });
    const [{ ready, behind, released, isWaiting, isFull }] = await Promise.all([
      this.arrange(transaction, partition, front),
      this.turns.begin(partition, options.turnId, { entries: front.length, eventId: null }),
    ]);
    const tried = options.carefully
      ? await this.applyEach(transaction, ready)
      : await this.applyAll(transaction, ready);
    const gone = this.store(transaction, partition, { tried, behind, attempts: 1 });
    this.turns.end(transaction, partition);
    const isMore = isFull || tried.length < ready.length;
    return { hasLease: true, taken: gone, isMore: isMore && gone > 0, isWaiting, released };
  }

  /** A turn with the first entry alone, until every entry of the interrupted turns was tried. */
  private async runOne(
    transaction: Transaction,
    partition: QueuePartition,
    front: readonly QueueEntry[],
    { turnId, interrupted }: TurnOptions & { readonly interrupted: InterruptedTurns },
  ): Promise<TurnOutcome> {
    const { ready, behind, released, isWaiting } = await this.arrange(transaction, partition, front);
    const entries = Math.min(interrupted.entries, front.length);
    const found = ready.find(({ eventId }) => eventId === interrupted.eventId);
    const entry = found ?? ready[0];
    let tried: readonly TriedEntry[] = [];
    if (found !== undefined) tried = [{ entry: found, failure: INTERRUPTED }];
    else if (entry !== undefined) {
      await this.turns.begin(partition, turnId, { entries, eventId: entry.eventId });
      tried = await this.applyEach(transaction, [entry]);
    }
    // The interrupted turn was the first attempt.
    const gone = this.store(transaction, partition, { tried, behind, attempts: 2 });
    this.turns.end(transaction, partition, entries - tried.length);
    return { hasLease: true, taken: gone, isMore: gone > 0, isWaiting, released };
  }

  /**
   * Which of the first entries are ready. Those of other customers take the room of those that wait: nobody is held up
   * by a customer whose events return to the queue some at a time, or wait for another partition.
   */
  private async arrange(
    transaction: Transaction,
    partition: QueuePartition,
    front: readonly QueueEntry[],
  ): Promise<TurnEntries> {
    const before = { held: new Set<string>(), leftOut: new Set<string>() };
    const turn = { ready: [] as ReadyEntry[], behind: [] as ReadyEntry[], released: [] as QueuePartition[] };
    let [entries, most] = [front, ENTRIES_MAX];
    for (let window = 1; ; window += 1) {
      const { ready, behind, deferred, released } = await this.order.arrange(transaction, partition, entries, before);
      turn.ready.push(...ready);
      turn.behind.push(...behind);
      turn.released.push(...released);
      for (const { queuedFor } of deferred) before.leftOut.add(queuedFor);
      const isFull = entries.length === most;
      most = ENTRIES_MAX - turn.ready.length - turn.behind.length;
      const after = entries.at(-1);
      if (!isFull || most === 0 || after === undefined || window === WINDOWS_MAX) {
        return { ...turn, isWaiting: before.leftOut.size > 0, isFull };
      }
      entries = await this.queue.read(transaction, partition, most, { after, except: [...before.leftOut] });
    }
  }

  /** Possibly for the first entries only; those that the effects left out stay in the queue. */
  private async applyAll(transaction: Transaction, entries: readonly ReadyEntry[]): Promise<TriedEntry[]> {
    const results = await this.processor.apply(transaction, entries);
    return entries.slice(0, results.length).map((entry, index) => {
      const result = results[index] ?? { reactions: [] };
      return result.mayRetry === true && result.failure !== undefined
        ? { entry, failure: result.failure }
        : { entry, result };
    });
  }

  /** An entry that fails alone gets a failure; later entries of its customer are skipped. */
  private async applyEach(transaction: Transaction, entries: readonly ReadyEntry[]): Promise<TriedEntry[]> {
    const tried: TriedEntry[] = [];
    const failed = new Set<string>();
    let isOver = false;
    await bisect(
      entries,
      async (part) => {
        const ofPart = await withinSavepoint(transaction, (inner) => this.applyAll(inner, part));
        tried.push(...ofPart);
        for (const each of ofPart) if ('failure' in each) failed.add(each.entry.rootId);
        isOver ||= ofPart.length < part.length;
      },
      {
        select: (part) => (isOver ? [] : part.filter(({ rootId }) => !failed.has(rootId))),
        mayBisect: (error) => !isDatabaseAway(error),
        failed: (entry, error) => {
          failed.add(entry.rootId);
          tried.push({ entry, failure: failureOf(error) });
        },
      },
    );
    return tried;
  }

  /** Returns how many entries left the queue. */
  private store(
    transaction: Transaction,
    partition: QueuePartition,
    turn: {
      readonly tried: readonly TriedEntry[];
      readonly behind: readonly ReadyEntry[];
      readonly attempts: number;
    },
  ): number {
    const { tried, behind, attempts } = turn;
    const finished = tried.flatMap((each) => ('result' in each ? [{ ...each, attempts }] : []));
    const failed = tried.flatMap((each) => ('failure' in each ? [each] : []));
    this.processor.finish(transaction, partition, finished);
    this.queue.writeRecords(
      transaction,
      partition.tenantId,
      failed.map(({ entry, failure }) => waitingRecord(entry, attempts, failure)),
    );
    const parked: EntryToPark[] = [
      ...failed.map(({ entry }) => ({ ...entry, attempts, delayMs: attemptDelayMs(attempts, Math.random()) ?? 0 })),
      ...behind.map((entry) => ({ ...entry, attempts: 0, delayMs: null })),
    ];
    this.parked.park(transaction, partition, parked);
    const gone = [...finished.map(({ entry }) => entry), ...parked];
    this.queue.remove(transaction, partition, gone);
    return gone.length;
  }
}
