import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { UnlinkedIdentifiers } from '../../identity/unlinked-identifiers';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../../platform/postgres/connection-settings';
import { PipelinedConnection, type Transaction } from '../../platform/postgres/pipelined-connection';
import { NIL_UUID } from '../../platform/values/uuid';
import { ReviewService } from '../../review/review.service';
import { eventWritersEnded } from '../store/event-writers';
import { ContentChecks } from './content-checks';
import * as sql from './event-expiry.sql';

/** Rows of one transaction; fewer where the database is so slow that it would hold their locks for longer than the target. */
const STEP_EVENTS_MAX = 1_000;
const STEP_EVENTS_MIN = 50;
const TRANSACTION_MS_TARGET = 150;
/** Bytes of the events of one transaction, unless one alone has more: PostgreSQL deletes large ones in pieces of 2 KiB. */
const BYTES_PER_STEP = 8 * 1024 * 1024;
/** Nothing here is worth waiting for: what is locked is left for the next pass. */
const LOCK_TIMEOUT_MS = 200;
/** Only the last statement of a transaction locks many rows, so that no lock is held for a second. */
const STATEMENT_TIMEOUT_MS = 700;

/** Ingest statements end after 1.5 s, and its transactions with them; an erasure may take longer. */
const WRITERS_MS_MAX = 4_000;

/** A place in the order of receipt. */
export interface ReceiptKey {
  /** As PostgreSQL writes it, with microseconds. */
  readonly receivedAt: string;
  readonly eventId: string;
}

/** Sorts before every event. */
export const FIRST_RECEIPT: ReceiptKey = { receivedAt: '-infinity', eventId: NIL_UUID };

export interface OldEvents {
  readonly tenantId: string;
  readonly after: ReceiptKey;
  /** Events that were received before it expire. As PostgreSQL writes a time. */
  readonly before: string;
  /** Locks the rule that they expire by until the transaction ends, and answers whether it still holds. */
  readonly holdRule: (transaction: Transaction) => Promise<boolean>;
}

/** `not_in_force`: the rule has changed. `busy`: a transaction that writes events takes long; try again later. */
export type ExpiryOutcome = FinishedStep | { readonly outcome: 'not_in_force' | 'busy' };

interface FinishedStep {
  readonly outcome: 'done';
  readonly expired: number;
  /** The last event that was looked at; undefined: there was none. */
  readonly last: ReceiptKey | undefined;
  /** Whether there may be more old events behind it. */
  readonly isMore: boolean;
  /** Whether events were being stored meanwhile. */
  readonly isIngesting: boolean;
}

interface FoundEvents {
  readonly events: readonly OldEvent[];
  readonly isMore: boolean;
}

interface OldEvent {
  readonly event_id: string;
  readonly received_at: string;
  readonly content_hash: Buffer;
  readonly bytes: number;
  readonly is_bundled: boolean;
  readonly is_settled: boolean;
  readonly is_recorded: boolean;
}

/**
 * Removes old events and keeps their deduplication keys (contract section 11, docs/adr/0060). Two transactions: the first one
 * records the keys in `expired_events`. The second one removes the rows when no statement is left that began before the first
 * one was committed: such a statement does not see the key, and would store the event again when its row is gone. Between the
 * two the event is there as before. A process that is killed there loses nothing: the next pass finds the row again.
 */
@Injectable()
export class EventExpiry implements BeforeApplicationShutdown {
  private readonly connection: PipelinedConnection;
  private stepEvents = STEP_EVENTS_MAX;

  constructor(
    private readonly checks: ContentChecks,
    private readonly unlinked: UnlinkedIdentifiers,
    private readonly review: ReviewService,
    @Inject(CONNECTION_SETTINGS) private readonly settings: ConnectionSettings,
  ) {
    this.connection = new PipelinedConnection(settings, {
      applicationName: 'cds-expiry',
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      // A crash of the server may undo the last steps; both transactions of a step only in their order.
      waitsForDisk: false,
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.connection.close();
  }

  /**
   * Takes the next 1,000 old events of a workspace at most. Those that are queued, parked or waiting stay, and those that
   * somebody has locked.
   */
  async step(old: OldEvents): Promise<ExpiryOutcome> {
    const found = await this.timed((open) => this.record(open, old));
    if (found === undefined) return { outcome: 'not_in_force' };
    const settled = found.events.filter((event) => event.is_settled);
    const { isOver, wasAny } = await eventWritersEnded(
      (statement, values) => this.connection.query(statement, values),
      WRITERS_MS_MAX,
      this.settings,
    );
    if (!isOver) return { outcome: 'busy' };
    const expired = settled.length === 0 ? 0 : await this.timed((open) => this.remove(open, old, settled));
    if (expired === undefined) return { outcome: 'not_in_force' };
    const last = found.events.at(-1);
    return {
      outcome: 'done',
      expired,
      last: last && { receivedAt: last.received_at, eventId: last.event_id },
      isMore: found.isMore,
      isIngesting: wasAny,
    };
  }

  /** Runs a transaction, and fits the size of the next ones to the time that it took. */
  private async timed<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      return await this.connection.transaction(work);
    } finally {
      const factor = performance.now() - began > TRANSACTION_MS_TARGET ? 0.5 : 1.25;
      this.stepEvents = Math.min(STEP_EVENTS_MAX, Math.max(STEP_EVENTS_MIN, Math.ceil(this.stepEvents * factor)));
    }
  }

  /** The events of this step, those that expire now recorded. The lock of the rule keeps others from recording the same. */
  private async record(transaction: Transaction, old: OldEvents): Promise<FoundEvents | undefined> {
    if (!(await old.holdRule(transaction))) return undefined;
    const { tenantId, after, before } = old;
    const { stepEvents } = this;
    const rows = await transaction.send<OldEvent>(sql.FIND_OLD_EVENTS, [
      ...[tenantId, after.receivedAt, after.eventId, before, stepEvents],
    ]);
    const events = withinBytes(rows);
    const unrecorded = events.filter((event) => event.is_settled && !event.is_recorded);
    if (unrecorded.length > 0) transaction.sendLast(sql.RECORD_EXPIRED, [tenantId, ...this.pairsOf(unrecorded)]);
    return { events, isMore: events.length < rows.length || rows.length === stepEvents };
  }

  private async remove(
    transaction: Transaction,
    { tenantId, holdRule }: OldEvents,
    settled: readonly OldEvent[],
  ): Promise<number | undefined> {
    if (!(await holdRule(transaction))) return undefined;
    const idsOf = (found: readonly { event_id: string }[]): string[] => found.map((row) => row.event_id);
    const alone = idsOf(settled.filter((event) => !event.is_bundled));
    const bundled = idsOf(settled.filter((event) => event.is_bundled));
    const locked = await transaction.send<{ event_id: string }>(sql.LOCK_BUNDLED, [tenantId, bundled]);
    const rows = await transaction.send<{ event_id: string }>(sql.LOCK_SETTLED, [
      tenantId,
      [...alone, ...idsOf(locked)],
      [...alone.map(() => false), ...locked.map(() => true)],
    ]);
    const eventIds = idsOf(rows);
    const removed = idsOf(await transaction.send<{ event_id: string }>(sql.REMOVE_EVENTS, [tenantId, eventIds]));
    this.unlinked.forgetExpired(transaction, tenantId, removed);
    this.review.supersedeExpired(
      transaction,
      removed.map((eventId) => ({ tenantId, eventId })),
    );
    return removed.length;
  }

  /** The columns of rows that hold two events each. */
  private pairsOf(events: readonly OldEvent[]): unknown[] {
    const ids = events.map((event) => event.event_id);
    const checks = events.map((event) => this.checkOf(event));
    const half = Math.ceil(events.length / 2);
    const others = <T>(values: readonly T[]): (T | null)[] =>
      Array.from({ length: half }, (_unused, index) => values[half + index] ?? null);
    return [ids.slice(0, half), checks.slice(0, half), others(ids), others(checks)];
  }

  /** Null of an erased event: what it said is unknown. */
  private checkOf({ event_id: eventId, content_hash: hash }: OldEvent): string | null {
    return hash.length === 0 ? null : this.checks.of(eventId, hash.toString('base64'));
  }
}

/** The first events, as many as one transaction may remove; at least one. */
function withinBytes(events: readonly OldEvent[]): readonly OldEvent[] {
  let bytes = 0;
  const end = events.findIndex((event, index) => (bytes += event.bytes) > BYTES_PER_STEP && index > 0);
  return end === -1 ? events : events.slice(0, end);
}
