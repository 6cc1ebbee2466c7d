import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import { newRulesVersion } from '../../processing/rule-cache';
import type { EventCursor } from '../../processing/event-window';
import type { WorkState } from '../../platform/jobs/work-states';
import type { BackfillCounts, BackfillEndReason, BackfillPhase, VariableSum } from './domain/backfill';
import * as sql from './backfill.sql';

/** What finds a backfill. */
export interface BackfillKey {
  readonly tenantId: string;
  readonly campaignId: string;
  readonly name: string;
  readonly id: string;
}

/** A backfill whose row is locked; times as text. */
export interface RunningBackfill extends BackfillKey, BackfillCounts {
  readonly reactionId: string;
  readonly eventType: string;
  readonly source: string | null;
  readonly isDryRun: boolean;
  /** Whether workers report later events, since the reaction sets values. */
  readonly tracksLater: boolean;
  readonly receivedFrom: string;
  readonly receivedTo: string;
  /** Until then the survey marks events; workers mark what they process after the start. */
  readonly markedTo: string;
  readonly requestedAt: Date;
  /** Null before its first step. */
  readonly startedAt: string | null;
  readonly phase: BackfillPhase;
  readonly attempts: number;
  readonly total: number;
  readonly sums: readonly VariableSum[];
  readonly cursor: EventCursor;
  readonly isOver: boolean;
  /** Whether its reaction is enabled and was not redefined since. */
  readonly isCurrent: boolean;
}

export interface BackfillEnd {
  readonly state: Extract<WorkState, 'done' | 'cancelled' | 'failed'>;
  readonly reason: BackfillEndReason | null;
}

interface BackfillRow {
  readonly reaction_id: string;
  readonly event_type: string;
  readonly source: string | null;
  readonly sets_values: boolean;
  readonly received_from: string;
  readonly received_to: string;
  readonly marked_to: string;
  readonly is_dry_run: boolean;
  readonly state: WorkState;
  readonly phase: BackfillPhase;
  readonly attempts: number;
  readonly total: number;
  readonly scanned: number;
  readonly matched: number;
  readonly applied: number;
  readonly waiting: number;
  readonly skipped: number;
  readonly failed: number;
  readonly sums: readonly VariableSum[];
  readonly cursor_received_at: string;
  readonly cursor_occurred_at: string;
  readonly cursor_event_id: string;
  readonly requested_at: Date;
  readonly started_at: string | null;
  readonly is_current: boolean;
}

/** The progress of a backfill, read and written in the transaction of a step. */
@Injectable()
export class BackfillProgress {
  /** Also locks the reactions of the workspace against changes. Undefined: there is no such backfill any more. */
  async lock(transaction: Transaction, key: BackfillKey): Promise<RunningBackfill | undefined> {
    const { tenantId, campaignId, name, id } = key;
    const [, [row]] = await Promise.all([
      transaction.send(sql.LOCK_REACTIONS, [tenantId]),
      transaction.send<BackfillRow>(sql.LOCK_BACKFILL, [tenantId, campaignId, name, id]),
    ]);
    return row === undefined ? undefined : { ...key, ...backfillOf(row) };
  }

  /** Along with COMMIT. */
  save(transaction: Transaction, backfill: RunningBackfill): void {
    const { tenantId, campaignId, name, id, phase, attempts, total, sums, cursor } = backfill;
    const { scanned, matched, applied, waiting, skipped, failed } = backfill;
    transaction.sendLast(sql.SAVE_PROGRESS, [
      ...[tenantId, campaignId, name, id, phase, attempts, total],
      ...[scanned, matched, applied, waiting, skipped, failed, JSON.stringify(sums)],
      ...[cursor.receivedAt, cursor.occurredAt, cursor.eventId],
    ]);
  }

  /** Along with COMMIT. The reactions of the workspace must be locked. */
  end(transaction: Transaction, { tenantId, campaignId, name, id }: BackfillKey, { state, reason }: BackfillEnd): void {
    transaction.sendLast(sql.END, [tenantId, campaignId, name, id, state, reason]);
    transaction.sendLast(sql.RELEASE_REACTION, [tenantId, campaignId, name, id, newRulesVersion()]);
  }
}

function backfillOf(row: BackfillRow): Omit<RunningBackfill, keyof BackfillKey> {
  const { source, phase, attempts, total, scanned, matched, applied, waiting, skipped, failed, sums } = row;
  return {
    source,
    phase,
    attempts,
    total,
    scanned,
    matched,
    applied,
    waiting,
    skipped,
    failed,
    sums,
    reactionId: row.reaction_id,
    eventType: row.event_type,
    isDryRun: row.is_dry_run,
    tracksLater: row.sets_values && !row.is_dry_run,
    receivedFrom: row.received_from,
    receivedTo: row.received_to,
    markedTo: row.marked_to,
    requestedAt: row.requested_at,
    startedAt: row.started_at,
    cursor: {
      receivedAt: row.cursor_received_at,
      occurredAt: row.cursor_occurred_at,
      eventId: row.cursor_event_id,
    },
    isOver: row.state !== 'queued' && row.state !== 'running',
    isCurrent: row.is_current,
  };
}
