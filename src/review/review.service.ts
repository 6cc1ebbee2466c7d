import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { inTurns } from '../platform/async/in-turns';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { unavailable } from '../platform/errors/unavailable';
import { PipelinedConnection, type Transaction } from '../platform/postgres/pipelined-connection';
import { failIfAny } from '../platform/postgres/precondition';
import { GroupCommit } from '../platform/group-commit/group-commit';
import { isPassing, persistBatch } from '../platform/group-commit/persist-batch';
import { GroupCommitMetrics } from '../platform/group-commit/group-commit-metrics';
import { KeyedIds } from '../platform/secrets/keyed-ids';
import {
  JSON_BYTES_MAX,
  reviewEntry,
  type EntryOptions,
  type NewReviewEntry,
  type Problem,
} from './domain/review-entry';
import type { ReplayedEntry } from './domain/resolution';
import { recordingOf } from './recording';
import { ReviewMetrics } from './review-metrics';
import * as sql from './review.sql';

/** What tells one stored event from all others. */
interface EventKey {
  readonly tenantId: string;
  readonly eventId: string;
}

const FAIL_IF_ANY_SUPERSEDED = failIfAny(sql.FIND_SUPERSEDED);

/** Two nodes may count up one busy entry; longer than a slow commit nobody holds it. */
const LOCK_TIMEOUT_MS = 1_000;
/** A refused body of 5 MiB takes a while to write; its sender can wait, and nobody else does. */
const STATEMENT_TIMEOUT_MS = 5_000;
const PATIENCE_MS = 1_500;
const ENTRIES_MAX = 100;
/** A batch's statement is put together in one turn of the event loop. */
const BATCH_BYTES_MAX = 512 * 1024;
/** To describe a problem of a small event costs about what parsing so many bytes does. */
const PROBLEM_BYTES_MIN = 1024;
/** Refusals are large where events are, but rare; beyond this the sender of nonsense waits, not the sender of events. */
const LANE_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Keeps what went wrong (contract section 7). Refusals have a lane and a connection of their own, so that a client who
 * sends nonsense slows down nobody who sends events; warnings go into the transaction of the event they are about.
 */
@Injectable()
export class ReviewService implements BeforeApplicationShutdown {
  private readonly connection: PipelinedConnection;
  private readonly lane: GroupCommit<NewReviewEntry, true>;
  private readonly entryOptions: EntryOptions;
  private readonly bytesPerDayMax: number;

  constructor(
    @Inject(CONNECTION_SETTINGS) connection: ConnectionSettings,
    @Inject(SETTINGS_TOKEN) { bodyBytesMax, reviewBytesPerDayMax }: Settings,
    watches: GroupCommitMetrics,
    ids: KeyedIds,
    private readonly figures: ReviewMetrics,
  ) {
    this.bytesPerDayMax = reviewBytesPerDayMax;
    this.entryOptions = {
      idOf: (parts) => ids.of(['review entry', ...parts]),
      jsonBytesMax: Math.max(JSON_BYTES_MAX, bodyBytesMax),
    };
    this.connection = new PipelinedConnection(connection, {
      applicationName: 'cds-review',
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
    this.lane = new GroupCommit({
      run: (entries) => this.persist(entries),
      singlesMax: ENTRIES_MAX,
      fillTo: ENTRIES_MAX,
      batchBytesMax: BATCH_BYTES_MAX,
      bytesMax: LANE_BYTES_MAX,
      watch: watches.of('review'),
    });
  }

  /** Keeps problems of one workspace; once this resolves they can be read. Throws `unavailable` when they cannot be kept. */
  async record(tenantId: string, problems: readonly Problem[]): Promise<void> {
    if (problems.length === 0) return;
    const weighed = inTurns(problems, turnBytesOf, (problem) => reviewEntry(problem, this.entryOptions));
    const entries = weighed instanceof Promise ? await weighed : weighed;
    await this.lane.submitBulk(
      tenantId,
      entries.map((work) => ({ work, bytes: work.payload.length })),
    );
    this.tell(problems);
  }

  /** Counts problems that are kept; what was kept within a transaction is told of after its commit. */
  tell(problems: readonly Pick<Problem, 'severity' | 'reason'>[]): void {
    for (const problem of problems) this.figures.count(problem);
  }

  /** Keeps problems in the caller's transaction; they are sent along with its COMMIT. */
  recordWithin(transaction: Transaction, problems: readonly Problem[]): void {
    for (const { statement, rows } of recordingOf(this.entriesOf(problems)))
      transaction.sendLast(statement, [rows, this.bytesPerDayMax]);
  }

  /** Whether there is anything for `supersede` to close. */
  async hasRefusals(transaction: Transaction, events: readonly EventKey[]): Promise<boolean> {
    const rows = await transaction.send(sql.FIND_SUPERSEDED, columns(events));
    return rows.length > 0;
  }

  /** For whoever does not wait for that answer: the transaction's precondition is that there is nothing to close. */
  expectNoRefusals(transaction: Transaction, events: readonly EventKey[]): void {
    transaction.sendLast(FAIL_IF_ANY_SUPERSEDED, columns(events));
  }

  /** Closes the open refusals of events that this transaction stores or finds stored. */
  supersede(transaction: Transaction, events: readonly EventKey[]): void {
    if (events.length === 0) return;
    transaction.sendLast(sql.SUPERSEDE_ENTRIES, columns(events));
  }

  /** Closes entries whose events this transaction stores or finds stored, because somebody has sent them again from here. */
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
    await this.lane.close();
    await this.connection.close();
  }

  private entriesOf(problems: readonly Problem[]): NewReviewEntry[] {
    return problems.map((problem) => reviewEntry(problem, this.entryOptions));
  }

  private persist(entries: readonly NewReviewEntry[]): Promise<readonly true[]> {
    return persistBatch<NewReviewEntry, true>(entries, {
      attempt: async (batch) => {
        await this.connection.transaction(async (open) => {
          // One after the other: each is put together while nothing else waits for it.
          for (const { statement, rows } of recordingOf(batch)) await open.send(statement, [rows, this.bytesPerDayMax]);
        });
        return batch.map(() => true);
      },
      refuse: (_entry, error) => {
        throw isPassing(error) ? unavailable(error) : error;
      },
      patienceMs: PATIENCE_MS,
    });
  }
}

/** For turns of the event loop: a thousand small events can be refused in one request. */
function turnBytesOf({ payload }: Problem): number {
  return Math.max(PROBLEM_BYTES_MIN, payload.text.length);
}

function columns(events: readonly EventKey[]): [string[], string[]] {
  return [events.map(({ tenantId }) => tenantId), events.map(({ eventId }) => eventId)];
}
