import { setTimeout as wait } from 'node:timers/promises';
import type { ConnectionSettings } from '../../platform/postgres/connection-settings';
import { onEachNode } from '../../platform/postgres/distribution/each-node';
import type { Statement } from '../../platform/postgres/statement';

const LOOK_AGAIN_MS = 5;
/** Of a distributed database: a look opens a session to each node. */
const LOOK_AT_NODES_AGAIN_MS = 100;

/**
 * Transactions that have written to `events`, or may do so with a statement that has begun: a FROM clause with the locks that
 * they hold. A statement locks its tables before it takes its snapshot or a time, whatever kind of connection or role it has.
 * The lock is held until others see the commit.
 */
export const EVENT_WRITERS = writersTo(`('events'::regclass)`);

/** Those on a node of a distributed database, whose statements may be for the table or for a shard of it by its name. */
export const EVENT_WRITERS_ON_NODE = writersTo(`(
      SELECT 'events'::regclass::oid
      UNION ALL SELECT to_regclass('events_' || shardid)::oid FROM pg_dist_shard WHERE logicalrelid = 'events'::regclass
    )`);

function writersTo(tables: string): string {
  return `
    FROM pg_locks writing
    WHERE writing.locktype = 'relation' AND writing.relation IN ${tables}
      AND writing.mode = 'RowExclusiveLock' AND writing.granted
      AND writing.database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
}

const FIND_WRITERS: Statement = {
  name: 'ingest_find_writers',
  text: `SELECT writing.virtualtransaction AS id ${EVENT_WRITERS}`,
};

const FIND_SAME_WRITERS: Statement = {
  name: 'ingest_find_same_writers',
  text: `SELECT writing.virtualtransaction AS id ${EVENT_WRITERS} AND writing.virtualtransaction = ANY ($1::text[])`,
};

/** Those of all nodes. A node that does not answer counts as a writer: it may have some. */
const WRITERS_ON_NODES = `
  SELECT writer.id FROM ${onEachNode(
    `SELECT coalesce(string_agg(DISTINCT writing.virtualtransaction, ','), '') ${EVENT_WRITERS_ON_NODE}`,
  )}
  CROSS JOIN LATERAL (
    SELECT nodeid || ':' || id AS id FROM unnest(string_to_array(CASE WHEN success THEN result ELSE 'away' END, ',')) id
  ) writer`;

const FIND_WRITERS_ON_NODES: Statement = { name: 'ingest_find_writers_on_nodes', text: WRITERS_ON_NODES };

const FIND_SAME_WRITERS_ON_NODES: Statement = {
  name: 'ingest_find_same_writers_on_nodes',
  text: `${WRITERS_ON_NODES} WHERE writer.id = ANY ($1::text[])`,
};

/** Whether a transaction is storing, replacing or removing events now. */
export const ANY_EVENT_WRITER: Statement = {
  name: 'ingest_any_event_writer',
  text: `SELECT EXISTS (SELECT ${EVENT_WRITERS}) AS "isWriting"`,
};

/** The same on a node of a distributed database. */
export const ANY_EVENT_WRITER_ON_NODE: Statement = {
  name: 'ingest_any_event_writer_on_node',
  text: `SELECT EXISTS (SELECT ${EVENT_WRITERS_ON_NODE}) AS "isWriting"`,
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
export async function eventWritersEnded(
  read: ReadRows,
  waitMsMax: number,
  { isDistributed }: Pick<ConnectionSettings, 'isDistributed'>,
): Promise<WritersEnded> {
  const [find, findSame, againMs] =
    isDistributed === true
      ? [FIND_WRITERS_ON_NODES, FIND_SAME_WRITERS_ON_NODES, LOOK_AT_NODES_AGAIN_MS]
      : [FIND_WRITERS, FIND_SAME_WRITERS, LOOK_AGAIN_MS];
  const writers = await read(find, []);
  let left = writers.map(({ id }) => id);
  const began = performance.now();
  while (left.length > 0) {
    if (performance.now() - began > waitMsMax) return { isOver: false, wasAny: true };
    await wait(againMs);
    left = (await read(findSame, [left])).map(({ id }) => id);
  }
  return { isOver: true, wasAny: writers.length > 0 };
}
