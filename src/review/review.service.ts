import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { inTurns } from '../platform/async/byte-turns';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { unavailable } from '../platform/errors/unavailable';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { queryOf } from '../platform/postgres/one-workspace';
import type { PipelinedConnection, Transaction } from '../platform/postgres/pipelined-connection';
import { failIfAny } from '../platform/postgres/precondition';
import type { Commits } from '../platform/group-commit/group-commit';
import { GroupCommits } from '../platform/group-commit/group-commits';
import { isPassing, persistBatch } from '../platform/group-commit/persist-batch';
import { KeyedIds } from '../platform/secrets/keyed-ids';
import {
  entryIdOf,
  JSON_BYTES_MAX,
  reviewEntry,
  type EntryOptions,
  type NewReviewEntry,
  type Problem,
} from './domain/review-entry';
import type { ReplayedEntry } from './domain/resolution';
import { recordEntries } from './recording';
import { ReviewMetrics } from './review-metrics';
import * as sql from './review.sql';

/** A recorded problem, and what is to be kept of it. */
export interface StrippedProblem {
  readonly problem: Problem;
  readonly kept: Problem;
}

/** The key of an event. */
interface EventKey {
  readonly tenantId: string;
  readonly eventId: string;
}

const FAIL_IF_ANY_SUPERSEDED = failIfAny(sql.FIND_SUPERSEDED);

/** Two nodes may update the same entry. No transaction holds it longer than a slow commit takes. */
const LOCK_TIMEOUT_MS = 1_000;
/** Writing a refused body of 5 MiB takes a while; only its sender waits. */
const STATEMENT_TIMEOUT_MS = 5_000;
/** After so long a refusal is answered 503 instead of being tried again. */
const RETRY_TIME_MAX_MS = 1_500;
const ENTRIES_MAX = 100;
/** The statement of a batch is built without a pause of the event loop. */
const BATCH_BYTES_MAX = 512 * 1024;
/** Describing a problem costs at least as much time as parsing this many bytes. */
const PROBLEM_BYTES_MIN = 1024;
/** The limit for refusals that wait to be written; beyond it senders of invalid events get 503. */
const QUEUE_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Records problems in the review area (contract section 7). Refusals have their own group commit and connection, so
 * that invalid events do not slow down valid ones. Warnings are written in the transaction of their event.
 */
@Injectable()
export class ReviewService implements BeforeApplicationShutdown {
  private readonly refusals: Commits<NewReviewEntry, true>;
  private readonly entryOptions: EntryOptions;
  private readonly bytesPerDayMax: number;

  constructor(
    @Inject(SETTINGS_TOKEN) { bodyBytesMax, reviewBytesPerDayMax }: Settings,
    groupCommits: GroupCommits,
    ids: KeyedIds,
    private readonly metrics: ReviewMetrics,
    private readonly database: DataSource,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {
    this.bytesPerDayMax = reviewBytesPerDayMax;
    this.entryOptions = {
      idOf: (parts) => ids.of(['review entry', ...parts]),
      jsonBytesMax: Math.max(JSON_BYTES_MAX, bodyBytesMax),
    };
    const options = {
      name: 'review',
      applicationName: 'cds-review',
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      singlesMax: ENTRIES_MAX,
      fillTo: ENTRIES_MAX,
      batchBytesMax: BATCH_BYTES_MAX,
      bytesMax: QUEUE_BYTES_MAX,
    };
    this.refusals = groupCommits.open(options, (opened) => (entries) => this.persist(opened, entries));
  }

  /**
   * Records problems of one workspace; once this resolves, reads find them. Throws `unavailable` if they cannot be
   * stored.
   */
  async record(tenantId: string, problems: readonly Problem[]): Promise<void> {
    if (problems.length === 0) return;
    const made = inTurns(problems, turnBytesOf, (problem) => reviewEntry(problem, this.entryOptions));
    const entries = made instanceof Promise ? await made : made;
    await this.refusals.submitBulk(
      tenantId,
      entries.map((work) => ({ work, bytes: work.bytes })),
    );
    this.countRecorded(problems);
  }

  /** Replaces payloads and faults of recorded problems of one workspace, which turned out to be about erased persons. */
  async replaceProblems(tenantId: string, stripped: readonly StrippedProblem[]): Promise<void> {
    if (stripped.length === 0) return;
    const ids = stripped.map(({ problem }) => this.entryIdOf(problem));
    const values = [
      ...[tenantId, ids, stripped.map(({ kept }) => kept.payload.text.toString())],
      ...[stripped.map(({ kept }) => kept.message), stripped.map(({ kept }) => JSON.stringify(kept.details))],
      stripped.map(({ problem }) => reviewEntry(problem, this.entryOptions).payload),
    ];
    await this.database.query(...queryOf(sql.REPLACE_PROBLEMS, values, this.connection));
  }

  /** The id of the entry that a problem was recorded in. Beyond the daily limit of its workspace there is none of that id. */
  entryIdOf(problem: Problem): string {
    return entryIdOf(problem, this.entryOptions.idOf);
  }

  /**
   * Counts recorded problems in the metrics. After `recordWithin` the caller calls it once the transaction is
   * committed.
   */
  countRecorded(problems: readonly Pick<Problem, 'severity' | 'reason'>[]): void {
    for (const problem of problems) this.metrics.count(problem);
  }

  /** Records problems in the caller's transaction, before its COMMIT. */
  recordWithin(transaction: Transaction, problems: readonly Problem[]): void {
    if (problems.length === 0) return;
    const entries = problems.map((problem) => reviewEntry(problem, this.entryOptions));
    transaction.beforeCommit(() => recordEntries(transaction, entries, this.bytesPerDayMax));
  }

  /** Whether `supersede` would close an entry. */
  async hasRefusals(transaction: Transaction, events: readonly EventKey[]): Promise<boolean> {
    const rows = await transaction.send(sql.FIND_SUPERSEDED, columns(events));
    return rows.length > 0;
  }

  /** `hasRefusals` as a precondition: the transaction fails at COMMIT if `supersede` would close an entry. */
  assertNoRefusals(transaction: Transaction, events: readonly EventKey[]): void {
    transaction.sendLast(FAIL_IF_ANY_SUPERSEDED, columns(events));
  }

  /** Closes the open refusals of events that this transaction stores or finds stored. */
  supersede(transaction: Transaction, events: readonly EventKey[]): void {
    if (events.length === 0) return;
    transaction.sendLast(sql.SUPERSEDE_ENTRIES, columns(events));
  }

  /** Closes the open failures of events that this transaction processes or finds processed. */
  supersedeFailures(transaction: Transaction, events: readonly EventKey[]): void {
    transaction.sendLast(sql.SUPERSEDE_FAILURES, columns(events));
  }

  /** Closes the open failures of events that this transaction removes, or finds removed, because their retention has ended. */
  supersedeExpired(transaction: Transaction, events: readonly EventKey[]): void {
    if (events.length === 0) return;
    transaction.sendLast(sql.SUPERSEDE_EXPIRED, columns(events));
  }

  /** Closes entries after a replay: this transaction stores their events or finds them stored. */
  closeReplayed(transaction: Transaction, entries: readonly ReplayedEntry[]): void {
    if (entries.length === 0) return;
    transaction.sendLast(sql.CLOSE_REPLAYED_ENTRIES, [
      entries.map((entry) => entry.tenantId),
      entries.map((entry) => entry.id),
      entries.map((entry) => entry.eventId),
      entries.map((entry) => JSON.stringify(entry.resolution)),
    ]);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.refusals.close();
  }

  private persist(connection: PipelinedConnection, entries: readonly NewReviewEntry[]): Promise<readonly true[]> {
    return persistBatch<NewReviewEntry, true>(entries, {
      attempt: async (batch) => {
        const work = (open: Transaction): Promise<void> => recordEntries(open, batch, this.bytesPerDayMax);
        await connection.transaction(work, batch);
        return batch.map(() => true);
      },
      refuse: (_entry, error) => {
        throw isPassing(error) ? unavailable(error) : error;
      },
      retryTimeMaxMs: RETRY_TIME_MAX_MS,
    });
  }
}

/** The cost of describing a problem, for pauses of the event loop: one request can have a thousand refused events. */
function turnBytesOf({ payload }: Problem): number {
  return Math.max(PROBLEM_BYTES_MIN, payload.text.length);
}

function columns(events: readonly EventKey[]): [string[], string[]] {
  return [events.map(({ tenantId }) => tenantId), events.map(({ eventId }) => eventId)];
}
