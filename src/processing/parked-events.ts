import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { queuePartitionKey, type EntryKey, type QueuePartition } from '../ingest/queue/queue-partition';
import type { QueuedKey } from '../ingest/queue/event-queue';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { Jobs, type JobPayload } from '../platform/jobs/jobs';
import * as sql from './processing.sql';

export const RETRY_JOB = 'parked-events';
/** Retries are looked for so often while something is parked; each adds up to this to the wait of an attempt. */
export const RETRY_EVERY_MS = 1_000;

/** The job that tries the parked entries of a place again: at most one of a place waits. */
export function retryJobOf(place: QueuePartition): { readonly payload: JobPayload; readonly key: string } {
  return { payload: { tenantId: place.tenantId, shard: String(place.shard) }, key: queuePartitionKey(place) };
}

/** An entry on its way into the parking place. */
export interface EntryToPark extends QueuedKey {
  readonly attempts: number;
  /** Null: it waits behind one that is tried again. */
  readonly delayMs: number | null;
}

/** A parked entry that is to be tried again. */
export interface DueEntry extends QueuedKey {
  readonly attempts: number;
}

interface KeyRow {
  readonly profile_id: string;
  readonly queued_at: string;
  readonly position: number;
  readonly event_id: string;
  readonly attempts: number;
}

/** Entries that have failed and may succeed, and what waits behind them. All but `shardsDue` are for who has the place. */
@Injectable()
export class ParkedEvents {
  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
  ) {}

  /** The first parked entry of each of these profiles that has one. */
  async firstOf(
    transaction: Transaction,
    tenantId: string,
    profileIds: readonly string[],
  ): Promise<Map<string, EntryKey>> {
    const rows = await transaction.send<KeyRow>(sql.FIRST_PARKED, [tenantId, profileIds]);
    return new Map(rows.map((row) => [row.profile_id, { queuedAt: row.queued_at, position: row.position }]));
  }

  /** Parks entries and sees to it that they are tried again, along with COMMIT. */
  park(transaction: Transaction, place: QueuePartition, entries: readonly EntryToPark[]): void {
    if (entries.length === 0) return;
    transaction.sendLast(sql.PARK_ENTRIES, [
      ...[place.tenantId, place.shard],
      entries.map((entry) => entry.queuedAt),
      entries.map((entry) => entry.position),
      entries.map((entry) => entry.eventId),
      entries.map((entry) => entry.queuedFor),
      entries.map((entry) => entry.attempts),
      entries.map((entry) => entry.delayMs),
    ]);
    if (entries.some(({ delayMs }) => delayMs !== null)) this.retryLater(transaction, place);
  }

  /** Has a place's parked entries tried again in a while, along with COMMIT. */
  retryLater(transaction: Transaction, place: QueuePartition): void {
    const { payload, key } = retryJobOf(place);
    this.jobs.addLater(transaction, RETRY_JOB, payload, { key, delayMs: RETRY_EVERY_MS });
  }

  /** The entries whose time has come. */
  async due(transaction: Transaction, { tenantId, shard }: QueuePartition, most: number): Promise<DueEntry[]> {
    const rows = await transaction.send<KeyRow>(sql.DUE_ENTRIES, [tenantId, shard, most]);
    return rows.map((row) => ({
      ...{ queuedFor: row.profile_id, queuedAt: row.queued_at, position: row.position, eventId: row.event_id },
      attempts: row.attempts,
    }));
  }

  /** A parked entry as it is now; undefined when it is not there any more. */
  async find(
    transaction: Transaction,
    tenantId: string,
    entry: QueuedKey,
  ): Promise<{ readonly attempts: number; readonly isDue: boolean } | undefined> {
    const [row] = await transaction.send<{ attempts: number; is_due: boolean | null }>(sql.DUE_ENTRY, [
      ...[tenantId, ...keyOf(entry)],
    ]);
    return row === undefined ? undefined : { attempts: row.attempts, isDue: row.is_due === true };
  }

  postpone(transaction: Transaction, tenantId: string, entry: QueuedKey, attempts: number, delayMs: number): void {
    transaction.sendLast(sql.POSTPONE_ENTRY, [tenantId, ...keyOf(entry), attempts, delayMs]);
  }

  /** Lets go of the first entries of a profile; should there be more, the next one is due now. Answers them in their order. */
  async release(transaction: Transaction, tenantId: string, profileId: string, most: number): Promise<QueuedKey[]> {
    const [rows] = await Promise.all([
      transaction.send<KeyRow>(sql.RELEASE_ENTRIES, [tenantId, profileId, most]),
      transaction.send(sql.WAKE_FIRST, [tenantId, profileId]),
    ]);
    return rows.map((row) => ({
      ...{ queuedFor: profileId, queuedAt: row.queued_at, position: row.position, eventId: row.event_id },
    }));
  }

  /** Whether anything of a place is to be tried again. */
  async isAnyLeft({ tenantId, shard }: QueuePartition): Promise<boolean> {
    const rows: unknown[] = await this.database.query(
      'SELECT 1 FROM parked_events WHERE tenant_id = $1 AND shard = $2 AND retry_at IS NOT NULL LIMIT 1',
      [tenantId, shard],
    );
    return rows.length > 0;
  }

  /**
   * Makes entries due that wait for a time which no back-off reaches: the database's clock was set back since. Those behind
   * them would wait as long.
   */
  async pullBack(most: number): Promise<void> {
    await this.database.query(
      `UPDATE parked_events p SET retry_at = clock_timestamp() - interval '1 minute'
       FROM (
         SELECT tenant_id, profile_id, queued_at, position, event_id FROM parked_events
         WHERE retry_at IS NOT NULL AND retry_at > now() + interval '1 minute' LIMIT $1 FOR UPDATE SKIP LOCKED
       ) ahead
       WHERE p.tenant_id = ahead.tenant_id AND p.profile_id = ahead.profile_id AND p.queued_at = ahead.queued_at
         AND p.position = ahead.position AND p.event_id = ahead.event_id`,
      [most],
    );
  }

  /** Places with entries that should have been tried again long ago. */
  async overdue(most: number): Promise<QueuePartition[]> {
    const rows: { tenant_id: string; shard: number }[] = await this.database.query(
      `SELECT DISTINCT tenant_id, shard FROM parked_events
       WHERE retry_at IS NOT NULL AND retry_at < now() - interval '5 seconds' LIMIT $1`,
      [most],
    );
    return rows.map((row) => ({ tenantId: row.tenant_id, shard: row.shard }));
  }
}

function keyOf({ queuedFor, queuedAt, position, eventId }: QueuedKey): unknown[] {
  return [queuedFor, queuedAt, position, eventId];
}
