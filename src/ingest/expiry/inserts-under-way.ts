import { setTimeout as wait } from 'node:timers/promises';
import type { PipelinedConnection } from '../../platform/postgres/pipelined-connection';
import type { Statement } from '../../platform/postgres/statement';

const LOOK_AGAIN_MS = 5;
/** Ingest statements end after 1.5 s, and its transactions with them; an erasure may take longer. */
const WAIT_MS_MAX = 4_000;

/**
 * Transactions that have written to `events`, or may do so with a statement that has begun. A statement locks its tables before
 * it takes its snapshot, whatever kind of connection or role it has.
 */
const WRITERS = `
    FROM pg_locks
    WHERE locktype = 'relation' AND relation = 'events'::regclass AND mode = 'RowExclusiveLock' AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

const FIND_WRITERS: Statement = {
  name: 'expiry_find_writers',
  text: `SELECT virtualtransaction AS id ${WRITERS}`,
};

const FIND_SAME_WRITERS: Statement = {
  name: 'expiry_find_same_writers',
  text: `SELECT virtualtransaction AS id ${WRITERS} AND virtualtransaction = ANY ($1::text[])`,
};

interface Writer {
  readonly id: string;
}

/** How the waiting ended. */
export interface InsertsEnded {
  /** Whether all have ended; false: they took too long. */
  readonly isOver: boolean;
  /** Whether any was under way at the beginning. */
  readonly wasAny: boolean;
}

/**
 * Waits until every transaction that is writing to `events` now has ended, as CREATE INDEX CONCURRENTLY does. Statements that
 * begin later see everything that was committed before this call. Takes no locks itself.
 */
export async function insertsEnded(connection: PipelinedConnection): Promise<InsertsEnded> {
  const writers = await connection.query<Writer>(FIND_WRITERS, []);
  let left = writers.map(({ id }) => id);
  const began = performance.now();
  while (left.length > 0) {
    if (performance.now() - began > WAIT_MS_MAX) return { isOver: false, wasAny: true };
    await wait(LOOK_AGAIN_MS);
    left = (await connection.query<Writer>(FIND_SAME_WRITERS, [left])).map(({ id }) => id);
  }
  return { isOver: true, wasAny: writers.length > 0 };
}
