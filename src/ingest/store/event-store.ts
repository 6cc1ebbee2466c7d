import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { SETTINGS_TOKEN, type Settings } from '../../platform/config/settings';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../../platform/postgres/connection-settings';
import { databaseFailure } from '../../platform/postgres/database-errors';
import { PipelinedConnection, type Transaction } from '../../platform/postgres/pipelined-connection';
import { newMark } from '../../platform/values/ids';
import { GroupCommit, type SizedWork } from '../../platform/group-commit/group-commit';
import { isPassing, persistBatch } from '../../platform/group-commit/persist-batch';
import { GroupCommitMetrics } from '../../platform/group-commit/group-commit-metrics';
import { Tracing } from '../../platform/observability/tracing';
import { ReviewService } from '../../review/review.service';
import type { Outcome } from '../domain/outcome';
import { inOrder, type IngestWork, type Settled } from './store-results';
import { IngestFromMemory, type StoredPart } from './store-from-memory';
import { IngestTransaction } from './store-transaction';
import { QueueSignal, type OnQueued, type Queued } from '../queue/queue-signal';
import { settleCopies } from './settle-copies';

/** One open transaction of somebody else on one event must not hold up everybody for longer than a slow commit does. */
const LOCK_TIMEOUT_MS = 100;
const STATEMENT_TIMEOUT_MS = 1_500;
/** A client is told to send again rather than left waiting (contract section 3, unknown outcome). */
const PATIENCE_MS = 1_500;
/**
 * The same for a batch behind one of which nothing could be stored: its clients have waited for that one, and a locked table
 * would otherwise cost each batch in the queue the whole time.
 */
const PATIENCE_AFTER_FAILURE_MS = 200;
/** Fewer may all have met the lock of one customer, which says nothing about the next batch. */
const FAILED_TOGETHER_MIN = 8;
/** Beyond some hundred rows the commit is a small part of a batch's cost, and what comes behind only waits longer. */
const ROWS_MAX = 400;
/**
 * What comes behind waits for the batch. PostgreSQL compresses events of hundreds of fields at some 5 MB a second, so that a
 * megabyte of them took a quarter of a second; 400 events of an ordinary size are smaller than this.
 */
const BATCH_BYTES_MAX = 160 * 1024;
/** Where somebody waits for a single event. */
const FILL_TO = 200;

/**
 * The way of every event into the database: group commit over all workspaces, one transaction at a time on a
 * connection of its own. What goes wrong with one event costs no other its answer.
 */
@Injectable()
export class IngestGroupCommit implements BeforeApplicationShutdown {
  private readonly connection: PipelinedConnection;
  private readonly lane: GroupCommit<IngestWork, Outcome>;
  private patienceMs = PATIENCE_MS;

  constructor(
    private readonly memory: IngestFromMemory,
    private readonly transaction: IngestTransaction,
    private readonly signal: QueueSignal,
    @Inject(CONNECTION_SETTINGS) connection: ConnectionSettings,
    @Inject(SETTINGS_TOKEN) settings: Settings,
    watches: GroupCommitMetrics,
    private readonly review: ReviewService,
    private readonly tracing: Tracing,
  ) {
    this.connection = new PipelinedConnection(connection, {
      applicationName: 'cds-ingest',
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
    this.lane = new GroupCommit({
      run: (batch) => settleCopies(batch, (unique) => this.persist(unique)),
      singlesMax: ROWS_MAX,
      fillTo: FILL_TO,
      bulkMax: ROWS_MAX,
      batchBytesMax: BATCH_BYTES_MAX,
      bytesMax: settings.laneBytesMax,
      watch: watches.of('ingest'),
    });
  }

  /** Stores one event; the answer comes after the commit. Throws `unavailable` when too much is waiting already. */
  store(work: SizedWork<IngestWork>): Promise<Outcome> {
    return this.lane.submit(work.work.tenantId, work);
  }

  /** The same for the events of a batch request of one workspace, in their order; all of them are taken, or none. */
  storeAll(tenantId: string, works: readonly SizedWork<IngestWork>[]): Promise<Outcome[]> {
    return this.lane.submitBulk(tenantId, works);
  }

  /** What is waiting is still stored and answered; the server has stopped taking requests by then. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.lane.close();
    await this.connection.close();
  }

  private async persist(batch: readonly IngestWork[]): Promise<readonly Outcome[]> {
    // One id for all attempts at these events: it is how an attempt recognises what an earlier one has committed.
    const batchId = newMark();
    const until = performance.now() + this.patienceMs;
    const { settled, rest } = await this.storeKnown(batch, batchId, until);
    const outcomes = inOrder(batch, [...settled, ...(await this.storeRest(rest, batchId, until))]);
    const failedTogether = outcomes.length >= FAILED_TOGETHER_MIN && outcomes.every(isUnavailable);
    this.patienceMs = failedTogether ? PATIENCE_AFTER_FAILURE_MS : PATIENCE_MS;
    this.review.tell(outcomes.flatMap(warningsIn));
    this.tracing.stored(batch);
    return outcomes;
  }

  /** What the memory of this node is enough for, and what it is not; everything, where that has changed or anything goes wrong. */
  private async storeKnown(batch: readonly IngestWork[], batchId: string, until: number): Promise<StoredPart> {
    const all = { settled: [], rest: batch };
    const recalled = this.memory.recall(batch);
    if (recalled === undefined) return all;
    try {
      return (await this.commit((open, queued) => this.memory.store(open, recalled, batchId, queued))) ?? all;
    } catch (error) {
      if (!isPassing(error) && databaseFailure(error) !== 'data') throw error;
      if (performance.now() < until) return all;
      return { settled: batch.map((work) => ({ work, outcome: refusedBy(work, error) })), rest: [] };
    }
  }

  private async storeRest(rest: readonly IngestWork[], batchId: string, until: number): Promise<Settled[]> {
    if (rest.length === 0) return [];
    const outcomes = await persistBatch<IngestWork, Outcome>(rest, {
      attempt: (works) => this.commit((open, queued) => this.transaction.run(open, works, batchId, queued)),
      refuse: refusedBy,
      patienceMs: until - performance.now(),
    });
    return rest.flatMap((work, index) => {
      const outcome = outcomes[index];
      return outcome === undefined ? [] : [{ work, outcome }];
    });
  }

  /** Answers what `run` settles on once the transaction is committed. */
  private async commit<T>(run: (open: Transaction, queued: OnQueued) => (() => T) | Promise<() => T>): Promise<T> {
    let queued: Queued | undefined;
    const settle = await this.connection.transaction(async (open) => run(open, (told) => (queued = told)));
    if (queued !== undefined) this.signal.tell(queued);
    return settle();
  }
}

/** They are in the review area since the commit. */
function warningsIn(outcome: Outcome): { readonly severity: 'warning'; readonly reason: string }[] {
  return outcome.status === 'refused' ? [] : outcome.warnings.map((reason) => ({ severity: 'warning', reason }));
}

function isUnavailable(outcome: Outcome): boolean {
  return outcome.status === 'refused' && outcome.code === 'unavailable';
}

/** Mistakes of ours are passed on: they must show as such. */
function refusedBy(_work: IngestWork, error: unknown): Outcome {
  if (databaseFailure(error) === 'data') return { status: 'refused', code: 'validation_failed' };
  if (isPassing(error)) return { status: 'refused', code: 'unavailable' };
  throw error;
}
