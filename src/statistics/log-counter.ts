import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { EVENT_FAMILIES, type EventFamily } from '../ingest/domain/submission';
import { eventWritersEnded } from '../ingest/store/event-writers';
import { ReplayedEvents } from '../ingest/store/replayed-events';
import { EVERY_MINUTE, Jobs } from '../platform/jobs/jobs';
import { Metrics } from '../platform/observability/metrics';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { databaseFailure, QUERY_CANCELED, sqlStateOf } from '../platform/postgres/database-errors';
import { NIL_UUID } from '../platform/values/uuid';
import * as sql from './statistics.sql';

const COUNT_JOB = 'ingest-statistics';
const RECOUNT_JOB = 'ingest-statistics-recount';
/** Small corrections of the database's clock stay within it; reads count so much of the log themselves. */
const MARGIN_MS = 10_000;
/** Longer than any transaction of the service writes to the log. */
const WRITERS_MS_MAX = 2_000;
/** A piece is one transaction of some 100 ms; of some seconds where each event has a source or type of its own. */
const PIECE_EVENTS_MAX = 50_000;
const PIECE_CHANGES_MAX = 10_000;
/** The share of these that the smallest piece has: a hundred events. */
const PIECE_SHARE_MIN = 1 / 512;
/** A piece of twice the size takes less than the time limit of a statement then. */
const QUICK_MS_MAX = 1_000;
const WORKSPACES_AT_ONCE = 100;
/** A stop waits six seconds for a job. */
const WORK_MS_MAX = 2_000;
/** What is counted again once the database's clock was set back: the job runs every minute, and may have been late. */
const UNCOUNTED_AFTER_SET_BACK = '1 hour';

interface Progress {
  /** With microseconds, which a Date cannot hold. */
  readonly countedUntil: string;
  readonly isAhead: boolean;
  readonly isDone: boolean;
  readonly isTooLate: boolean;
}

interface CountedFamily {
  readonly family: EventFamily;
  readonly late: number;
  readonly clockSkewed: number;
  readonly changes: number;
}

/**
 * Counts the event log: adds the events that were received up to a time to minutes, hours and days, and moves that time on. Reads
 * count the rest of the log themselves, so that the sum is exact at any moment (docs/adr/0059). Nothing that is counted is counted
 * again, so events may leave the log afterwards.
 */
@Injectable()
export class LogCounter implements OnModuleInit {
  private readonly late;
  private readonly clockSkewed;
  /** The share of the largest piece that the next one has. */
  private pieceShare = 1;

  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    private readonly replayed: ReplayedEvents,
    @Inject(CONNECTION_SETTINGS) private readonly settings: ConnectionSettings,
    metrics: Metrics,
  ) {
    this.late = metrics.counter({
      name: 'cds_events_late_total',
      help: 'Accepted events that occurred more than 24 hours before their receipt, counted about a minute later',
      labels: ['family'],
    });
    this.clockSkewed = metrics.counter({
      name: 'cds_events_clock_skewed_total',
      help: 'Accepted events that occur more than 24 hours after their receipt, counted about a minute later',
      labels: ['family'],
    });
    // A rate needs a first sample at zero.
    for (const family of EVENT_FAMILIES)
      for (const counter of [this.late, this.clockSkewed]) counter.inc({ family }, 0);
  }

  onModuleInit(): void {
    this.replayed.addStatement(sql.COUNT_REPLAYED);
    const { manager } = this.database;
    const work = async (): Promise<void> => {
      if (await this.count()) await this.jobs.add(manager, COUNT_JOB, {}, { key: 'rest' });
    };
    this.jobs.handle(COUNT_JOB, work, { cron: EVERY_MINUTE });
    // Before the clock shows again what is counted: until then the job above would find it, and not always in time.
    this.jobs.handle(RECOUNT_JOB, ({ since = '' }) => this.recountSince(since), { onSetBack: true });
  }

  /**
   * Counts the log of all workspaces up to `marginMs` ago, for two seconds; returns whether more is left. Any number of
   * processes may call it at once. Throws while a foreign transaction that has written to the log stays open.
   */
  async count(marginMs = MARGIN_MS): Promise<boolean> {
    const began = performance.now();
    await this.database.query(sql.ADD_WORKSPACES);
    const until = await this.finalUntil(marginMs);
    for await (const tenantId of this.workspacesToCount(until)) {
      while (await this.countPiece(tenantId, until)) {
        if (performance.now() - began > WORK_MS_MAX) return true;
      }
    }
    return false;
  }

  /**
   * Counts the log of a workspace up to `until`, a time long past, for two seconds; returns whether all of it is counted. What
   * is counted may leave the log.
   */
  async countUpTo(tenantId: string, until: string): Promise<boolean> {
    const began = performance.now();
    if (await this.isCounted(tenantId, until)) return true;
    await this.database.query(sql.ADD_WORKSPACES);
    while (await this.countPiece(tenantId, until)) {
      if (performance.now() - began > WORK_MS_MAX) return false;
    }
    return this.isCounted(tenantId, until);
  }

  /**
   * After the database's clock was set back to `since`: from then on events come under times that are counted already. Each
   * workspace is locked first: a piece that began before is waited for, and one that begins later counts nothing ahead.
   */
  private async recountSince(since: string): Promise<void> {
    const { manager } = this.database;
    const rows: { tenant_id: string }[] = await manager.query(sql.FIND_WORKSPACES);
    for (const { tenant_id: tenantId } of rows) {
      await manager.transaction(async (within) => {
        const [held]: { isBeyond: boolean }[] = await within.query(sql.HOLD_PROGRESS, [tenantId, since]);
        if (held?.isBeyond === true) await this.uncount(within, tenantId, since);
      });
    }
    await this.jobs.add(manager, COUNT_JOB, {}, { key: 'rest' });
  }

  private async isCounted(tenantId: string, until: string): Promise<boolean> {
    const rows: unknown[] = await this.database.query(sql.FIND_COUNTED, [tenantId, until]);
    return rows.length > 0;
  }

  /** A time, `marginMs` ago, before which no event is received any more, except by a replay. */
  private async finalUntil(marginMs: number): Promise<string> {
    const [row]: { at: string }[] = await this.database.query(sql.TIME_AGO, [marginMs]);
    if (row === undefined) throw new Error('The database returned no time');
    const { isOver } = await eventWritersEnded(
      ({ text }, values) => this.database.query(text, [...values]),
      WRITERS_MS_MAX,
      this.settings,
    );
    if (!isOver) throw new Error('A transaction that has written to the event log stays open');
    return row.at;
  }

  /**
   * Counts the next piece of a workspace, up to `until` at most; returns whether there may be more. Where another process counts
   * the workspace, it does nothing.
   */
  private async countPiece(tenantId: string, until: string): Promise<boolean> {
    const share = this.pieceShare;
    const began = performance.now();
    try {
      // One snapshot for all statements.
      const { isMore, counted } = await this.database.transaction('REPEATABLE READ', (manager) =>
        this.countWithin(manager, tenantId, until, share),
      );
      if (performance.now() - began < QUICK_MS_MAX) this.pieceShare = Math.min(1, share * 2);
      for (const { family, late, clockSkewed } of counted) {
        this.late.inc({ family }, late);
        this.clockSkewed.inc({ family }, clockSkewed);
      }
      return isMore;
    } catch (error) {
      // Another process has counted the workspace since the snapshot.
      if (databaseFailure(error) === 'repeat') return false;
      if (sqlStateOf(error) !== QUERY_CANCELED || share <= PIECE_SHARE_MIN) throw error;
      // It took too long, and would again.
      this.pieceShare = Math.max(PIECE_SHARE_MIN, share / 4);
      return true;
    }
  }

  private async countWithin(
    manager: EntityManager,
    tenantId: string,
    until: string,
    share: number,
  ): Promise<{ isMore: boolean; counted: readonly CountedFamily[] }> {
    const [progress]: Progress[] = await manager.query(sql.LOCK_PROGRESS, [tenantId, until]);
    if (progress === undefined) return { isMore: false, counted: [] };
    const { countedUntil, isAhead, isDone, isTooLate } = progress;
    if (isAhead) {
      await this.uncount(manager, tenantId);
      return { isMore: true, counted: [] };
    }
    // The clock was set back since `until` was read, and events come under times before it again.
    if (isTooLate) return { isMore: false, counted: [] };
    const [events, changes] = [Math.ceil(PIECE_EVENTS_MAX * share), Math.ceil(PIECE_CHANGES_MAX * share)];
    const most = [tenantId, countedUntil, until, events, changes];
    const end = isDone ? countedUntil : await this.endOfPiece(manager, most);
    const counted: CountedFamily[] = await manager.query(sql.COUNT_PIECE, [tenantId, countedUntil, end, changes]);
    const isFull = counted[0]?.changes === changes;
    return { isMore: isFull || (!isDone && end !== until), counted };
  }

  private async endOfPiece(manager: EntityManager, values: readonly unknown[]): Promise<string> {
    const [piece]: { until: string }[] = await manager.query(sql.FIND_PIECE, [...values]);
    if (piece === undefined) throw new Error('The statement of a piece returned no row');
    return piece.until;
  }

  /** The database's clock was set back: it stamps events again with times that are counted already. */
  private async uncount(manager: EntityManager, tenantId: string, since: string | null = null): Promise<void> {
    const [row]: { at: string }[] = await manager.query(
      `SELECT (date_trunc('minute', least(clock_timestamp(), $1::timestamptz)) - interval '${UNCOUNTED_AFTER_SET_BACK}')::text AS at`,
      [since],
    );
    await manager.query(sql.UNCOUNT, [tenantId, row?.at]);
  }

  private async *workspacesToCount(until: string): AsyncGenerator<string> {
    for (let after: string | undefined = NIL_UUID; after !== undefined;) {
      const values = [after, until, WORKSPACES_AT_ONCE];
      const rows: { tenant_id: string }[] = await this.database.query(sql.WORKSPACES_TO_COUNT, values);
      for (const row of rows) yield row.tenant_id;
      after = rows.length < WORKSPACES_AT_ONCE ? undefined : rows.at(-1)?.tenant_id;
    }
  }
}
