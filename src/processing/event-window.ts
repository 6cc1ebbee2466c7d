import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import * as sql from './event-window.sql';
import type { DequeuedEvent } from './dequeued-events';

/** The last event that was looked at; times as text with microseconds. */
export interface EventCursor {
  readonly receivedAt: string;
  readonly occurredAt: string;
  readonly eventId: string;
}

/** Events of a workspace behind a cursor, in the order of receipt. Times as text. */
export interface EventWindow {
  readonly tenantId: string;
  readonly cursor: EventCursor;
  /** Exclusive. */
  readonly until: string;
  /** Events that are concerned have one of these types. */
  readonly eventTypes: readonly string[];
  /** And this source; null: any. */
  readonly source: string | null;
}

/** The concerned events of a window. */
export interface WindowEvents {
  readonly events: readonly DequeuedEvent[];
  /** The cursor behind the first so many of the events; behind all of them, at the end of the window. */
  readonly cursorAfter: (count: number) => EventCursor;
  /** There are no further events. */
  readonly isLast: boolean;
}

/** A part of the range, counted. */
export interface WindowCount {
  readonly concerned: number;
  /** Undefined: there are no further events. */
  readonly cursor: EventCursor | undefined;
}

/** Events of any type that a step looks at when it counts: some ten milliseconds. */
export const COUNTED_MAX = 5_000;
/** The same for a step that reads; it ends earlier after as many concerned events as the caller takes. */
const READ_MAX = 2_000;

/** Reads stored events in parts, for effects that come to them when they have left the queue (`DequeuedEvents`). */
@Injectable()
export class EventWindows {
  constructor(@Inject(CONNECTION_SETTINGS) private readonly settings: ConnectionSettings) {}

  /** At most `eventsMax` concerned events. */
  async read(transaction: Transaction, window: EventWindow, eventsMax: number): Promise<WindowEvents> {
    const rows = await transaction.send<WindowRow>(sql.READ_WINDOW, [...windowParameters(window, READ_MAX), eventsMax]);
    const concerned = rows.filter((row) => row.concerned);
    const last = rows.at(-1);
    return {
      events: concerned.map(({ event_id: eventId, is_bundled: isBundled }) => ({ eventId, isBundled })),
      cursorAfter: (count) => {
        const row = count === concerned.length ? last : concerned[count - 1];
        return row === undefined ? window.cursor : cursorOf(row);
      },
      isLast: rows.length < eventsMax && last?.is_end !== true,
    };
  }

  /** Counts the concerned events received before `before`, of the next 5,000 events. */
  async count(transaction: Transaction, window: EventWindow, before: string): Promise<WindowCount> {
    const parameters = [...windowParameters(window, COUNTED_MAX), before];
    const [row] = await transaction.send<CountRow>(sql.COUNT_WINDOW, parameters);
    const isLast = row === undefined || row.looked < COUNTED_MAX;
    return { concerned: row?.concerned ?? 0, cursor: isLast ? undefined : cursorOf(row) };
  }

  /**
   * Whether every transaction that was open at this time has ended, so that no event received before it is still to be
   * committed. `set_back`: the clock was set back since, so that the time tells nothing; ask with the time of now.
   */
  async settledAt(transaction: Transaction, at: string): Promise<'settled' | 'open' | 'set_back'> {
    const statement = this.settings.isDistributed === true ? sql.IS_SETTLED_ON_NODES : sql.IS_SETTLED;
    const [row] = await transaction.send<{ is_settled: boolean; is_ahead: boolean }>(statement, [at]);
    if (row?.is_ahead === true) return 'set_back';
    return row?.is_settled === true ? 'settled' : 'open';
  }
}

/**
 * Now, and the end (exclusive) of the times at which events of a workspace were received: later where the clock was ahead.
 */
export async function receiptEnd(manager: EntityManager, tenantId: string): Promise<{ now: Date; end: Date }> {
  const rows: { now: Date; ahead: Date | null }[] = await manager.query(sql.READ_RECEIPT_END, [tenantId]);
  const [row] = rows;
  if (row === undefined) throw new Error('The database returned no time');
  return { now: row.now, end: new Date((row.ahead ?? row.now).getTime() + 1) };
}

/** The first parameters of a statement about `EVENTS_IN_WINDOW`. */
export function windowParameters(window: EventWindow, eventsMax: number): unknown[] {
  const { tenantId, cursor, until, eventTypes, source } = window;
  return [tenantId, cursor.receivedAt, cursor.occurredAt, cursor.eventId, until, eventsMax, eventTypes, source];
}

interface KeyRow {
  readonly event_id: string;
  readonly received_at: string;
  readonly occurred_at: string;
}

interface WindowRow extends KeyRow {
  readonly concerned: boolean;
  readonly is_bundled: boolean;
  /** The window has no further event. */
  readonly is_end: boolean;
}

interface CountRow extends KeyRow {
  readonly looked: number;
  readonly concerned: number;
}

function cursorOf({ event_id: eventId, received_at: receivedAt, occurred_at: occurredAt }: KeyRow): EventCursor {
  return { receivedAt, occurredAt, eventId };
}
