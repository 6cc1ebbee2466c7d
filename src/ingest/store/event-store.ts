import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { SETTINGS_TOKEN, type Settings } from '../../platform/config/settings';
import type { Commits, SizedWork } from '../../platform/group-commit/group-commit';
import { GroupCommits } from '../../platform/group-commit/group-commits';
import { isPassing, LostRaceError, persistBatch } from '../../platform/group-commit/persist-batch';
import { Tracing } from '../../platform/observability/tracing';
import { databaseFailure } from '../../platform/postgres/database-errors';
import type { PipelinedConnection, Transaction } from '../../platform/postgres/pipelined-connection';
import { isLostRace } from '../../platform/postgres/precondition';
import { randomId } from '../../platform/values/ids';
import { ReviewService } from '../../review/review.service';
import type { Event } from '../domain/event';
import { type IngestResult, isUnavailable, refusedByStore } from '../domain/ingest-result';
import { QueueSignal, type OnQueued, type Queued } from '../queue/queue-signal';
import { storeCopies } from './copies-in-batch';
import { StoreFromMemory, type MemoryAttempts, type StoredPart } from './store-from-memory';
import { StoreTransaction } from './store-transaction';
import { inOrder, type Results } from './store-rules';

/** A transaction of another program that locks one event must not hold up all others for longer than a slow commit does. */
const LOCK_TIMEOUT_MS = 100;
const STATEMENT_TIMEOUT_MS = 1_500;
/** After this time a client is asked to send again (contract section 3, unknown outcome). */
const RETRY_TIME_MAX_MS = 1_500;
/**
 * The same for a batch behind one of which nothing could be stored: its clients have waited for that one, and a locked table
 * would otherwise cost each batch in the queue the whole time.
 */
const RETRY_TIME_AFTER_FAILURE_MAX_MS = 200;
/** Fewer may all have met the lock of one customer, which says nothing about the next batch. */
const FAILED_TOGETHER_MIN = 8;
/** Beyond some hundred rows the commit is a small part of a batch's cost, and later events only wait longer. */
const ROWS_MAX = 400;
/**
 * Later events wait for the batch. PostgreSQL compresses events of hundreds of fields at some 5 MB a second, so that a
 * megabyte of them took a quarter of a second; 400 events of an ordinary size are smaller than this.
 */
const BATCH_BYTES_MAX = 160 * 1024;
/** Events in a batch that holds single events, for each of which a client waits. */
const FILL_TO = 200;

/** How the rest of a batch is stored. */
interface StoringRest {
  /** Results are added to these. */
  readonly results: Results;
  readonly batchId: string;
  /** Repetitions end then, by the monotonic clock. */
  readonly until: number;
  /** Only in the first attempt; a repetition goes step by step, which finds out what was in the way. */
  readonly createsAtCommit: boolean;
}

/** What a group commit works with; on a distributed database there is one for each node. */
interface NodeState {
  readonly connection: PipelinedConnection;
  readonly memory: MemoryAttempts;
  retryTimeMaxMs: number;
}

/**
 * The one door to storing events: group commit over all workspaces, one transaction at a time on a connection of its own. It
 * hides copies within a batch, retries, the search for the event that makes a batch fail, and the fast path
 * (`store-from-memory.ts`). The slow, complete path is `store-transaction.ts`. What goes wrong with one event costs no other
 * its result.
 */
@Injectable()
export class EventStore implements BeforeApplicationShutdown {
  private readonly commits: Commits<Event, IngestResult>;

  constructor(
    private readonly fromMemory: StoreFromMemory,
    private readonly transaction: StoreTransaction,
    private readonly signal: QueueSignal,
    @Inject(SETTINGS_TOKEN) settings: Settings,
    groupCommits: GroupCommits,
    private readonly review: ReviewService,
    private readonly tracing: Tracing,
  ) {
    const options = {
      name: 'ingest',
      applicationName: 'cds-ingest',
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      onLost: () => this.fromMemory.forget(),
      singlesMax: ROWS_MAX,
      fillTo: FILL_TO,
      bulkMax: ROWS_MAX,
      batchBytesMax: BATCH_BYTES_MAX,
      bytesMax: settings.laneBytesMax,
    };
    this.commits = groupCommits.open(options, (connection) => {
      const node: NodeState = { connection, memory: this.fromMemory.newAttempts(), retryTimeMaxMs: RETRY_TIME_MAX_MS };
      return (batch) => storeCopies(batch, (unique) => this.persist(node, unique));
    });
  }

  /** Stores one event; the result is there after the commit. Throws `unavailable` when too much is waiting already. */
  storeOne(event: Event): Promise<IngestResult> {
    return this.commits.submit(event.tenantId, sized(event));
  }

  /** The same for the events of a batch request of one workspace, in their order; all of them are taken, or none. */
  store(tenantId: string, events: readonly Event[]): Promise<IngestResult[]> {
    return this.commits.submitBulk(tenantId, events.map(sized));
  }

  /** Events that wait are still stored and answered; the server has stopped taking requests by then. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.commits.close();
  }

  private async persist(node: NodeState, batch: readonly Event[]): Promise<readonly IngestResult[]> {
    // One id for all attempts at these events: by it an attempt recognises what an earlier one has committed.
    const batchId = randomId();
    const until = performance.now() + node.retryTimeMaxMs;
    const { results, rest, hasFailed } = await this.tryFromMemory(node, batch, batchId, until);
    await this.storeRest(node, rest, { results, batchId, until, createsAtCommit: !hasFailed });
    const inBatch = inOrder(batch, results);
    const failedTogether = inBatch.length >= FAILED_TOGETHER_MIN && inBatch.every(isUnavailable);
    node.retryTimeMaxMs = failedTogether ? RETRY_TIME_AFTER_FAILURE_MAX_MS : RETRY_TIME_MAX_MS;
    this.review.countRecorded(inBatch.flatMap(recordedWarnings));
    this.tracing.stored(batch);
    return inBatch;
  }

  /** What this node remembers enough of, and the rest; all of it is the rest where that has changed or anything goes wrong. */
  private async tryFromMemory(
    node: NodeState,
    batch: readonly Event[],
    batchId: string,
    until: number,
  ): Promise<StoredPart & { readonly hasFailed: boolean }> {
    const nothing = (hasFailed: boolean) => ({ results: new Map<Event, IngestResult>(), rest: batch, hasFailed });
    const recalled = this.fromMemory.recall(batch, node.memory);
    if (recalled === undefined) return nothing(false);
    try {
      const part = await this.commit(node, batch, (open, queued) =>
        this.fromMemory.store(open, recalled, batchId, queued),
      );
      return part === undefined ? nothing(false) : { ...part, hasFailed: false };
    } catch (error) {
      if (!isPassing(error) && databaseFailure(error) !== 'data') throw error;
      if (performance.now() < until) return nothing(true);
      return { results: new Map(batch.map((event) => [event, refusedBy(event, error)])), rest: [], hasFailed: true };
    }
  }

  private async storeRest(
    node: NodeState,
    rest: readonly Event[],
    { results, batchId, until, createsAtCommit }: StoringRest,
  ): Promise<void> {
    if (rest.length === 0) return;
    let isFirst = true;
    const stored = await persistBatch<Event, IngestResult>(rest, {
      attempt: (events) => {
        const createsNow = createsAtCommit && isFirst;
        isFirst = false;
        return this.commit(node, events, (open, queued) =>
          this.transaction.run(open, events, batchId, { queued, createsAtCommit: createsNow }),
        );
      },
      refuse: refusedBy,
      retryTimeMaxMs: until - performance.now(),
    });
    rest.forEach((event, index) => {
      const result = stored[index];
      if (result !== undefined) results.set(event, result);
    });
  }

  /** Returns what `run` returns once the transaction is committed. */
  private async commit<T>(
    { connection }: NodeState,
    batch: readonly Event[],
    run: (open: Transaction, queued: OnQueued) => (() => T) | Promise<() => T>,
  ): Promise<T> {
    let queued: Queued | undefined;
    const work = async (open: Transaction): Promise<() => T> => run(open, (entries) => (queued = entries));
    const conclude = await connection.transaction(work, batch).catch((error: unknown) => {
      throw isLostRace(error) ? new LostRaceError('another node was faster') : error;
    });
    if (queued !== undefined) this.signal.notify(queued);
    return conclude();
  }
}

function sized(event: Event): SizedWork<Event> {
  return { work: event, bytes: event.submission.bytes };
}

/** The warnings that are in the review area since the commit. */
function recordedWarnings(result: IngestResult): { readonly severity: 'warning'; readonly reason: string }[] {
  return result.status === 'error' ? [] : result.warnings.map((reason) => ({ severity: 'warning', reason }));
}

/** Throws what is a bug of the service: it must show as such. */
function refusedBy(_event: Event, error: unknown): IngestResult {
  if (databaseFailure(error) === 'data') return refusedByStore('validation_failed');
  if (isPassing(error)) return refusedByStore('unavailable');
  throw error;
}
