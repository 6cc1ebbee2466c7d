import { setTimeout as wait } from 'node:timers/promises';
import type { Statement } from '../../platform/postgres/statement';

const LOOK_AGAIN_MS = 5;

/**
 * Transactions that have written to `events`, or may do so with a statement that has begun: a FROM clause with the locks that
 * they hold. A statement locks its tables before it takes its snapshot or a time, whatever kind of connection or role it has.
 * The lock is held until others see the commit.
 */
export const EVENT_WRITERS = `
    FROM pg_locks writing
    WHERE writing.locktype = 'relation' AND writing.relation = 'events'::regclass
      AND writing.mode = 'RowExclusiveLock' AND writing.granted
      AND writing.database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

const FIND_WRITERS: Statement = {
  name: 'ingest_find_writers',
  text: `SELECT writing.virtualtransaction AS id ${EVENT_WRITERS}`,
};

const FIND_SAME_WRITERS: Statement = {
  name: 'ingest_find_same_writers',
  text: `SELECT writing.virtualtransaction AS id ${EVENT_WRITERS} AND writing.virtualtransaction = ANY ($1::text[])`,
};

interface Writer {
  readonly id: string;
}

/** Reads by any kind of connection. */
type ReadRows = (statement: Statement, values: readonly unknown[]) => Promise<readonly Writer[]>;

/** How the waiting ended. */
export interface WritersEnded {
  /** Whether all have ended; false: they took too long. */
  readonly isOver: boolean;
  /** Whether any was under way at the beginning. */
  readonly wasAny: boolean;
}

/**
 * Waits until every transaction that is writing to `events` now has ended, as CREATE INDEX CONCURRENTLY does. Statements that
 * begin later see everything that was committed before this call, and an event that is received before it is visible
 * afterwards. Takes no locks itself.
 */
export async function eventWritersEnded(read: ReadRows, waitMsMax: number): Promise<WritersEnded> {
  const writers = await read(FIND_WRITERS, []);
  let left = writers.map(({ id }) => id);
  const began = performance.now();
  while (left.length > 0) {
    if (performance.now() - began > waitMsMax) return { isOver: false, wasAny: true };
    await wait(LOOK_AGAIN_MS);
    left = (await read(FIND_SAME_WRITERS, [left])).map(({ id }) => id);
  }
  return { isOver: true, wasAny: writers.length > 0 };
}
