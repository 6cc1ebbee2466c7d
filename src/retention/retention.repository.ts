import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { FIRST_RECEIPT, type ReceiptKey } from '../ingest/expiry/event-expiry';
import type { Statement } from '../platform/postgres/statement';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { EventRetention } from './entities/event-retention.entity';

/** No other process works on a workspace for so long after a step has begun. Then its process counts as dead. */
const LEASE_SECONDS = 30;
/** No step is put off for so long. Those that are due later were put off before the database's clock was set back. */
const PUT_OFF_SECONDS_MAX = 60 * 60;

/** A workspace whose next step this process does. Times are as PostgreSQL writes them. */
export interface RetentionTurn {
  readonly tenantId: string;
  /** Tells whether the rule has changed since. */
  readonly changedAt: string;
  /** Events that were received earlier expire. */
  readonly before: string;
  /** The last event that the pass has looked at. */
  readonly position: ReceiptKey;
  /** Since when the oldest events should be gone; what a changed rule no longer keeps, since that change. */
  readonly secondsBehind: number;
}

/** What is written after a step. */
export interface RetentionProgress {
  /** Null: the pass is over, or waits to begin. */
  readonly position: ReceiptKey | null;
  /** Null: not known yet. */
  readonly expiredBefore: string | null;
  readonly nextInSeconds: number;
}

interface TurnRow {
  readonly tenant_id: string;
  readonly changed_at: string;
  readonly before: string;
  readonly position_at: string | null;
  readonly position_id: string | null;
  readonly seconds_behind: number;
}

/** Of a rule `r`; see `RetentionTurn.secondsBehind`. */
const SECONDS_BEHIND = `
  extract(epoch FROM clock_timestamp() - greatest(r.changed_at, r.expired_before + make_interval(hours => 24 * r.event_days)))::float8`;

const HOLD_RULE: Statement = {
  name: 'retention_hold_rule',
  text: `
    SELECT 1 FROM event_retention WHERE tenant_id = $1::uuid AND changed_at = $2::timestamptz FOR NO KEY UPDATE`,
};

@Injectable()
export class RetentionRepository {
  constructor(private readonly database: DataSource) {}

  find(manager: EntityManager, tenantId: string): Promise<EventRetention | null> {
    return manager.findOneBy(EventRetention, { tenantId });
  }

  /** Locks the rule of a workspace until the transaction ends. Makes one that keeps everything if there is none. */
  async lock(manager: EntityManager, tenantId: string, by: string): Promise<void> {
    await manager.query(
      `INSERT INTO event_retention (tenant_id, event_days, changed_at, changed_by, next_step_at)
       VALUES ($1, NULL, clock_timestamp(), $2, clock_timestamp()) ON CONFLICT DO NOTHING`,
      [tenantId, by],
    );
    await manager.query('SELECT 1 FROM event_retention WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
  }

  /** Nothing changes if the days are the same. Otherwise the next pass begins at once, with the oldest event. */
  async change(manager: EntityManager, tenantId: string, eventDays: number | null, by: string): Promise<void> {
    await manager.query(
      `INSERT INTO event_retention AS stored (tenant_id, event_days, changed_at, changed_by, next_step_at)
       VALUES ($1, $2, clock_timestamp(), $3, clock_timestamp())
       ON CONFLICT ON CONSTRAINT event_retention_pkey DO UPDATE SET
         event_days = excluded.event_days, changed_at = excluded.changed_at, changed_by = excluded.changed_by,
         next_step_at = excluded.next_step_at, position_at = NULL, position_id = NULL
       WHERE stored.event_days IS DISTINCT FROM excluded.event_days`,
      [tenantId, eventDays, by],
    );
  }

  /** The workspace whose step has been due for the longest time, which nobody else gets meanwhile. */
  async takeTurn(): Promise<RetentionTurn | undefined> {
    const [[row]]: [TurnRow[], number] = await this.database.query(
      `UPDATE event_retention r SET next_step_at = clock_timestamp() + make_interval(secs => $1)
       FROM (
         SELECT tenant_id FROM event_retention
         WHERE event_days IS NOT NULL AND (
           next_step_at <= clock_timestamp() OR next_step_at > clock_timestamp() + make_interval(secs => $2)
         )
         ORDER BY next_step_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
       ) due
       WHERE r.tenant_id = due.tenant_id
       RETURNING r.tenant_id, r.changed_at::text AS changed_at, r.position_at::text AS position_at, r.position_id,
         (clock_timestamp() - make_interval(hours => 24 * r.event_days))::text AS before,
         ${SECONDS_BEHIND} AS seconds_behind`,
      [LEASE_SECONDS, PUT_OFF_SECONDS_MAX],
    );
    if (row === undefined) return undefined;
    const { position_at: receivedAt, position_id: eventId } = row;
    const position = receivedAt === null || eventId === null ? FIRST_RECEIPT : { receivedAt, eventId };
    const { tenant_id: tenantId, changed_at: changedAt, before, seconds_behind: secondsBehind } = row;
    return { tenantId, changedAt, before, position, secondsBehind };
  }

  /** Seconds until the next step that is under way in another process, was cut off, or is to be repeated; undefined: there is none. */
  async secondsToTurn(): Promise<number | undefined> {
    const [row]: { seconds: number | null }[] = await this.database.query(
      `SELECT extract(epoch FROM min(next_step_at) - clock_timestamp())::float8 AS seconds FROM event_retention
       WHERE event_days IS NOT NULL AND next_step_at <= clock_timestamp() + make_interval(secs => $1)`,
      [LEASE_SECONDS],
    );
    return row?.seconds ?? undefined;
  }

  /** Locks the rule of a turn until the transaction ends. False if it has changed since. */
  async hold(transaction: Transaction, { tenantId, changedAt }: RetentionTurn): Promise<boolean> {
    return (await transaction.send(HOLD_RULE, [tenantId, changedAt])).length > 0;
  }

  /** Ends a turn. `expired_before` never goes back: a pass begins with the oldest event again. */
  async endTurn({ tenantId, changedAt }: RetentionTurn, progress: RetentionProgress): Promise<void> {
    const { position, expiredBefore, nextInSeconds } = progress;
    await this.database.query(
      `UPDATE event_retention SET position_at = $3, position_id = $4,
         expired_before = greatest(expired_before, $5::timestamptz),
         next_step_at = clock_timestamp() + make_interval(secs => $6)
       WHERE tenant_id = $1 AND changed_at = $2::timestamptz`,
      [tenantId, changedAt, position?.receivedAt ?? null, position?.eventId ?? null, expiredBefore, nextInSeconds],
    );
  }

  /** By how many seconds the removal is behind, as in a turn, in the workspace where it is furthest behind; null without any rule. */
  async secondsBehind(): Promise<number | null> {
    const [row]: { seconds: number | null }[] = await this.database.query(
      `SELECT max(${SECONDS_BEHIND}) AS seconds FROM event_retention r WHERE event_days IS NOT NULL`,
    );
    return row?.seconds ?? null;
  }
}
