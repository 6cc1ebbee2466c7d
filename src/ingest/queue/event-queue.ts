import { Injectable } from '@nestjs/common';
import { compareText, CrossWorkspaceReads } from '../../platform/postgres/distribution/cross-workspace-reads';
import type { Statement } from '../../platform/postgres/statement';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import { NIL_UUID } from '../../platform/values/uuid';
import type { LoggedEvent } from '../domain/event';
import type { ProcessingRecord, ProcessingState, ReactionRecord, RecordToWrite } from './processing-record';
import { QUEUE_SHARDS, shardOf, type EntryKey, type QueuePartition } from './queue-partition';
import * as sql from './event-queue.sql';

/** An entry's key in its partition. */
export interface QueuedKey extends EntryKey {
  readonly eventId: string;
  /** The customer's root when the event was received. */
  readonly queuedFor: string;
}

export interface QueueEntry extends QueuedKey {
  readonly event: LoggedEvent;
}

/** What has left the queue, of one workspace. */
export interface ProcessedBundles {
  readonly tenantId: string;
  readonly bundles: number;
  readonly events: number;
}

interface EntryRow extends LoggedEvent {
  readonly queued_at: string;
  readonly position: number;
  readonly queued_for: string;
}

interface PartitionRow {
  readonly tenant_id: string;
  readonly shard: number;
}

interface ProcessingRow {
  readonly event_id: string;
  readonly state: ProcessingState;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly reactions: readonly ReactionRecord[];
}

/** Sorts before everything that is queued. */
const FIRST_KEY = { queuedAt: '-infinity', position: 0, eventId: NIL_UUID };
/** Entries of another shard that are searched for those of a customer. */
const ENTRIES_LOOKED_AT_MAX = 200;

/** Runs one statement. */
export type Reading = <T>(statement: Statement, values: readonly unknown[]) => Promise<readonly T[]>;

/**
 * The queue as workers see it, which take entries out in transactions of their own. Only one worker at a time may remove
 * entries of a partition (`processing/queue-leases.ts`).
 */
@Injectable()
export class EventQueue {
  constructor(private readonly crossWorkspace: CrossWorkspaceReads) {}

  /** The partitions that have entries, at most so many, behind the given one in their order. */
  async partitions(read: Reading, after: QueuePartition, most: number): Promise<QueuePartition[]> {
    const rows = await this.crossWorkspace.first<PartitionRow>(read, {
      statement: sql.FIND_PARTITIONS,
      values: [after.tenantId, after.shard, most],
      most,
      compare: (a, b) => compareText(a.tenant_id, b.tenant_id) || a.shard - b.shard,
    });
    return rows.map((row) => ({ tenantId: row.tenant_id, shard: row.shard }));
  }

  /**
   * The entries of a partition in the order of their arrival, from its front or behind one of them. `except`: the
   * profiles whose entries are left out.
   */
  async read(
    transaction: Transaction,
    { tenantId, shard }: QueuePartition,
    most: number,
    { after = FIRST_KEY, except = [] }: { after?: Omit<QueuedKey, 'queuedFor'>; except?: readonly string[] } = {},
  ): Promise<QueueEntry[]> {
    const rows = await transaction.send<EntryRow>(sql.READ_ENTRIES, [
      tenantId,
      shard,
      after.queuedAt,
      after.position,
      after.eventId,
      most,
      except,
    ]);
    return rows.map(({ queued_at: queuedAt, position, queued_for: queuedFor, ...event }) => {
      return { queuedAt, position, eventId: event.eventId, queuedFor, event };
    });
  }

  /** Where the queue can have entries for these profiles at the earliest; those without any are missing. */
  async firstOf(
    transaction: Transaction,
    tenantId: string,
    profileIds: readonly string[],
  ): Promise<(EntryKey & { readonly profileId: string })[]> {
    if (profileIds.length === 0) return [];
    const rows = await transaction.send<{ profile_id: string; queued_at: string; position: number }>(
      sql.FIRST_ENTRIES,
      [tenantId, profileIds.map(shardOf), profileIds, ENTRIES_LOOKED_AT_MAX],
    );
    return rows.map((row) => ({ profileId: row.profile_id, queuedAt: row.queued_at, position: row.position }));
  }

  /** Takes entries out, along with the caller's COMMIT. */
  remove(transaction: Transaction, { tenantId, shard }: QueuePartition, entries: readonly QueuedKey[]): void {
    if (entries.length > 0) transaction.sendLast(sql.REMOVE_ENTRIES, [tenantId, shard, ...columnsOf(entries)]);
  }

  /**
   * Takes up to `most` bundles out, of all workspaces, and records their events as processed. Returns what has left the
   * queue, by workspace.
   */
  async processBundles(transaction: Transaction, most: number): Promise<ProcessedBundles[]> {
    const rows = await transaction.send<{ tenant_id: string; bundles: number; events: number }>(sql.PROCESS_BUNDLES, [
      most,
    ]);
    return rows.map(({ tenant_id: tenantId, bundles, events }) => ({ tenantId, bundles, events }));
  }

  /** Workspaces that have bundles, at most so many. */
  async workspacesWithBundles(read: Reading, most: number): Promise<string[]> {
    const rows = await this.crossWorkspace.first<{ tenant_id: string }>(read, {
      statement: sql.FIND_WORKSPACES_WITH_BUNDLES,
      values: [most],
      most,
      compare: (a, b) => compareText(a.tenant_id, b.tenant_id),
    });
    return rows.map(({ tenant_id: tenantId }) => tenantId);
  }

  /** `processBundles` of one workspace. */
  async processBundlesOf(transaction: Transaction, tenantId: string, most: number): Promise<ProcessedBundles> {
    const taken = await transaction.send<{ id: string; events: number }>(sql.TAKE_BUNDLES, [tenantId, most]);
    const ids = taken.map(({ id }) => id);
    if (ids.length > 0) {
      transaction.sendLast(sql.REMOVE_BUNDLES, [tenantId, ids]);
      transaction.sendLast(sql.RECORD_BUNDLES, [tenantId, ids]);
    }
    return { tenantId, bundles: ids.length, events: taken.reduce((sum, { events }) => sum + events, 0) };
  }

  /**
   * Puts entries back where they were, along with the caller's COMMIT. `released`: they were not queued meanwhile, and count as
   * queued from now on.
   */
  restore(
    transaction: Transaction,
    { tenantId, shard }: QueuePartition,
    entries: readonly QueuedKey[],
    { released = false } = {},
  ): void {
    if (entries.length === 0) return;
    const queuedFor = entries.map((entry) => entry.queuedFor);
    transaction.sendLast(sql.RESTORE_ENTRIES, [tenantId, shard, ...columnsOf(entries), queuedFor, released]);
  }

  /** Events by id. */
  async events(
    transaction: Transaction,
    tenantId: string,
    eventIds: readonly string[],
  ): Promise<Map<string, LoggedEvent>> {
    const events = await transaction.send<LoggedEvent>(sql.READ_EVENTS, [tenantId, eventIds]);
    return new Map(events.map((event) => [event.eventId, event]));
  }

  /** Keeps events from expiring until the transaction ends, and returns the ids of those that have not expired. */
  async holdEvents(
    transaction: Transaction,
    tenantId: string,
    eventIds: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const rows = await transaction.send<{ event_id: string }>(sql.HOLD_EVENTS, [tenantId, eventIds.toSorted()]);
    return new Set(rows.map((row) => row.event_id));
  }

  /** Records the processing of events, along with the caller's COMMIT, which fails if a first record is not the first. */
  writeRecords(transaction: Transaction, tenantId: string, records: readonly RecordToWrite[]): void {
    const write = (statement: Statement, isFirst: boolean): void => {
      const sorted = records
        .filter((record) => record.isFirst === isFirst)
        .sort((a, b) => (a.eventId < b.eventId ? -1 : 1));
      if (sorted.length === 0) return;
      transaction.sendLast(statement, [
        tenantId,
        sorted.map((record) => record.eventId),
        sorted.map((record) => record.state),
        sorted.map((record) => record.attempts),
        sorted.map((record) => record.lastError),
        sorted.map((record) => JSON.stringify(record.reactions)),
      ]);
    };
    write(sql.INSERT_PROCESSING, true);
    write(sql.UPDATE_PROCESSING, false);
  }

  /** Skips the reactions to events that wait for their customers. */
  async skipWaiting(run: Reading, tenantId: string, eventIds: readonly string[], reason: string): Promise<void> {
    if (eventIds.length > 0) await run(sql.SKIP_WAITING, [tenantId, eventIds.toSorted(), reason]);
  }

  /** Counts an attempt at an event that failed for good, and returns the number of its attempts; undefined for any other event. */
  async countAttempt(transaction: Transaction, tenantId: string, eventId: string): Promise<number | undefined> {
    const [row] = await transaction.send<{ attempts: number }>(sql.COUNT_ATTEMPT, [tenantId, eventId]);
    return row?.attempts;
  }

  /**
   * The processing records of events, by id, locked until the transaction ends. Events before their first attempt are missing.
   */
  async lockProcessing(
    transaction: Transaction,
    tenantId: string,
    eventIds: readonly string[],
  ): Promise<Map<string, ProcessingRecord>> {
    const rows = await transaction.send<ProcessingRow>(sql.LOCK_PROCESSING, [tenantId, eventIds.toSorted()]);
    return new Map(
      rows.map(({ event_id: eventId, state, attempts, last_error: lastError, reactions }) => [
        eventId,
        { eventId, state, attempts, lastError, reactions },
      ]),
    );
  }
}

/** Sorts before every partition. */
export const BEFORE_ALL_PARTITIONS: QueuePartition = { tenantId: NIL_UUID, shard: -1 };
export const SHARDS: readonly number[] = Array.from({ length: QUEUE_SHARDS }, (_unused, shard) => shard);

function columnsOf(entries: readonly QueuedKey[]): unknown[] {
  return [
    entries.map((entry) => entry.queuedAt),
    entries.map((entry) => entry.position),
    entries.map((entry) => entry.eventId),
  ];
}
