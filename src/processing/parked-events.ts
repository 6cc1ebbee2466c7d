import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { queuePartitionKey, type EntryKey, type QueuePartition } from '../ingest/queue/queue-partition';
import type { QueuedKey } from '../ingest/queue/event-queue';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { Jobs, type JobPayload } from '../platform/jobs/jobs';
import type { EntryToPark } from './processing.sql';
import * as sql from './processing.sql';

export const RETRY_JOB = 'parked-events';
/** While events are parked, due ones are looked up this often; it delays an attempt by as much at most. */
export const RETRY_EVERY_MS = 1_000;

/** The job that retries the parked entries of a partition: at most one per partition waits. */
export function retryJobOf(partition: QueuePartition): { readonly payload: JobPayload; readonly key: string } {
  return {
    payload: { tenantId: partition.tenantId, shard: String(partition.shard) },
    key: queuePartitionKey(partition),
  };
}

/** A parked entry whose next attempt is due. */
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

/**
 * Entries that failed and may still succeed, and later ones of their profiles. Most methods need the lease of the
 * partition.
 */
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

  /** Parks entries and schedules their next attempts, along with COMMIT. */
  park(transaction: Transaction, partition: QueuePartition, entries: readonly EntryToPark[]): void {
    if (entries.length === 0) return;
    transaction.sendLast(sql.PARK_ENTRIES, sql.parkEntriesParameters(partition, entries));
    if (entries.some(({ delayMs }) => delayMs !== null)) this.retryLater(transaction, partition);
  }

  /** Schedules the next attempt at a partition's parked entries, along with COMMIT. */
  retryLater(transaction: Transaction, partition: QueuePartition): void {
    const { payload, key } = retryJobOf(partition);
    this.jobs.addLater(transaction, RETRY_JOB, payload, { key, delayMs: RETRY_EVERY_MS });
  }

  /** The entries whose next attempt is due. */
  async due(transaction: Transaction, { tenantId, shard }: QueuePartition, most: number): Promise<DueEntry[]> {
    const rows = await transaction.send<KeyRow>(sql.DUE_ENTRIES, [tenantId, shard, most]);
    return rows.map((row) => ({
      queuedFor: row.profile_id,
      queuedAt: row.queued_at,
      position: row.position,
      eventId: row.event_id,
      attempts: row.attempts,
    }));
  }

  /** A parked entry as it is now; undefined: it is no longer parked. */
  async find(
    transaction: Transaction,
    tenantId: string,
    entry: QueuedKey,
  ): Promise<{ readonly attempts: number; readonly isDue: boolean } | undefined> {
    const [row] = await transaction.send<{ attempts: number; is_due: boolean | null }>(
      sql.DUE_ENTRY,
      sql.parkedEntryParameters(tenantId, entry),
    );
    return row === undefined ? undefined : { attempts: row.attempts, isDue: row.is_due === true };
  }

  postpone(transaction: Transaction, tenantId: string, entry: QueuedKey, attempts: number, delayMs: number): void {
    transaction.sendLast(sql.POSTPONE_ENTRY, sql.postponeEntryParameters(tenantId, entry, attempts, delayMs));
  }

  /** Removes the first entries of a profile and returns them in order. If more are parked, the next one is due now. */
  async release(transaction: Transaction, tenantId: string, profileId: string, most: number): Promise<QueuedKey[]> {
    const [rows] = await Promise.all([
      transaction.send<KeyRow>(sql.RELEASE_ENTRIES, [tenantId, profileId, most]),
      transaction.send(sql.WAKE_FIRST, [tenantId, profileId]),
    ]);
    return rows.map((row) => ({
      queuedFor: profileId,
      queuedAt: row.queued_at,
      position: row.position,
      eventId: row.event_id,
    }));
  }

  /** Whether a partition has entries with a next attempt. */
  async isAnyLeft({ tenantId, shard }: QueuePartition): Promise<boolean> {
    const rows: unknown[] = await this.database.query(
      'SELECT 1 FROM parked_events WHERE tenant_id = $1 AND shard = $2 AND retry_at IS NOT NULL LIMIT 1',
      [tenantId, shard],
    );
    return rows.length > 0;
  }

  /**
   * Makes entries due whose next attempt is later than any back-off: the database's clock was set back since. Later
   * entries of their profiles would wait as long.
   */
  async pullBack(most: number): Promise<void> {
    const found: { tenant_id: string }[] = await this.database.query(
      `SELECT tenant_id FROM parked_events
       WHERE retry_at IS NOT NULL AND retry_at > now() + interval '1 minute' GROUP BY tenant_id LIMIT $1`,
      [most],
    );
    for (const { tenant_id: tenantId } of found) await this.pullBackOf(tenantId, most);
  }

  private async pullBackOf(tenantId: string, most: number): Promise<void> {
    await this.database.query(
      `UPDATE parked_events p SET retry_at = statement_timestamp() - interval '1 minute'
       FROM (
         SELECT profile_id, queued_at, position, event_id FROM parked_events
         WHERE tenant_id = $1 AND retry_at IS NOT NULL AND retry_at > now() + interval '1 minute'
         LIMIT $2 FOR UPDATE SKIP LOCKED
       ) ahead
       WHERE p.tenant_id = $1 AND p.profile_id = ahead.profile_id AND p.queued_at = ahead.queued_at
         AND p.position = ahead.position AND p.event_id = ahead.event_id`,
      [tenantId, most],
    );
  }

  /** Partitions with entries that are long overdue. */
  async overdue(most: number): Promise<QueuePartition[]> {
    const rows: { tenant_id: string; shard: number }[] = await this.database.query(
      `SELECT DISTINCT tenant_id, shard FROM parked_events
       WHERE retry_at IS NOT NULL AND retry_at < now() - interval '5 seconds' LIMIT $1`,
      [most],
    );
    return rows.map((row) => ({ tenantId: row.tenant_id, shard: row.shard }));
  }
}
