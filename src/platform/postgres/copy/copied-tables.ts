import { escapeIdentifier, type Client } from 'pg';
import { CopyError, OWN_SCHEMA, type CopiedPartition, type CopiedSequence, type CopiedTable } from './copy-format';

/** A migration may be running; it has ended by the next attempt. */
const TRIES_MAX = 5;

/**
 * Relations `c` of the service, and their schema as a copy names it. Its own tables are where its sessions find them by their
 * bare names and make new ones: not in `public` where the user has a schema of its own name, or something sets `search_path`.
 */
const IS_COPIED = `(n.nspname = 'cds_jobs' OR pg_table_is_visible(c.oid) AND (
  n.nspname = current_schema() OR n.oid = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('migrations'))
))`;
const SCHEMA = `CASE n.nspname WHEN 'cds_jobs' THEN 'cds_jobs' ELSE '${OWN_SCHEMA}' END AS schema`;

const LAST_JOBS_MIGRATION = 'SELECT coalesce(max(id), 0) AS last FROM cds_jobs.migrations';

interface NamedRow {
  readonly schema: string;
  readonly name: string;
}

/**
 * Begins a transaction with one snapshot of the database and returns the tables in it. Until the transaction ends they cannot
 * be altered or dropped; their rows can be read and written.
 */
export async function beginSnapshot(client: Client): Promise<readonly CopiedTable[]> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const expected = await tablesOf(client);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    try {
      // Before the first SELECT, which takes the snapshot: it then includes what the lock waited for.
      if (expected.length > 0) {
        await client.query(`LOCK TABLE ${expected.map(quoted).join(', ')} IN ACCESS SHARE MODE`);
      }
      const found = await tablesOf(client);
      if (JSON.stringify(found) === JSON.stringify(expected)) return found;
    } catch (error) {
      // A table that was dropped since it was listed.
      if ((error as { code?: unknown }).code !== '42P01') throw error;
    }
    await client.query('ROLLBACK');
  }
  throw new CopyError('The tables of the database keep changing. Wait until its migrations have run, then try again.');
}

/** Ordinary and partitioned tables by name; a partition's rows are read through its parent. */
export async function tablesOf(client: Client): Promise<CopiedTable[]> {
  const { rows } = await client.query<CopiedTable>(
    `SELECT ${SCHEMA}, c.relname AS name,
       (SELECT coalesce(json_agg(a.attname ORDER BY a.attnum), '[]') FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE ${IS_COPIED} AND c.relkind IN ('r', 'p') AND NOT c.relispartition
     ORDER BY schema DESC, name`,
  );
  return rows;
}

export async function partitionsOf(client: Client): Promise<CopiedPartition[]> {
  const { rows } = await client.query<CopiedPartition>(
    `SELECT ${SCHEMA}, c.relname AS name, p.relname AS parent,
       pg_get_expr(c.relpartbound, c.oid) AS bound, coalesce(to_json(c.reloptions), '[]') AS options
     FROM pg_class c
     JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_inherits i ON i.inhrelid = c.oid JOIN pg_class p ON p.oid = i.inhparent
     WHERE ${IS_COPIED} AND c.relkind = 'r' AND c.relispartition
     ORDER BY schema, name`,
  );
  return rows;
}

/** Call this last: sequences are not part of a snapshot, and must not be behind the rows. */
export async function sequencesOf(client: Client): Promise<CopiedSequence[]> {
  const { rows } = await client.query<NamedRow>(
    `SELECT ${SCHEMA}, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE ${IS_COPIED} AND c.relkind = 'S' ORDER BY schema, name`,
  );
  const sequences: CopiedSequence[] = [];
  for (const { schema, name } of rows) {
    const state = await client.query<{ value: string; isCalled: boolean }>(
      `SELECT last_value::text AS value, is_called AS "isCalled" FROM ${quoted({ schema, name })}`,
    );
    sequences.push(...state.rows.map((row) => ({ schema, name, ...row })));
  }
  return sequences;
}

/** The migrations that have run, of the service and of the job library. */
export async function schemaVersionOf(client: Client): Promise<{ migrations: string[]; jobsRevision: number }> {
  const { rows } = await client.query<{ own: boolean; jobs: boolean }>(
    `SELECT to_regclass('migrations') IS NOT NULL AS own, to_regclass('cds_jobs.migrations') IS NOT NULL AS jobs`,
  );
  const own =
    rows[0]?.own === true ? await client.query<{ name: string }>('SELECT name FROM migrations ORDER BY id') : null;
  const jobs = rows[0]?.jobs === true ? await client.query<{ last: number }>(LAST_JOBS_MIGRATION) : null;
  return { migrations: own?.rows.map(({ name }) => name) ?? [], jobsRevision: jobs?.rows[0]?.last ?? 0 };
}

/** Tables of a Citus cluster are on several servers, and no transaction has one snapshot of all. */
export async function refuseDistributed(client: Client): Promise<void> {
  const { rows } = await client.query<{ found: boolean }>(
    `SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS found`,
  );
  if (rows[0]?.found !== true) return;
  const distributed = await client.query('SELECT FROM pg_catalog.pg_dist_partition LIMIT 1');
  if (distributed.rowCount === 0) return;
  throw new CopyError(
    'This database is distributed by Citus: back it up with the tools of its servers (pg_basebackup).',
  );
}

export function quoted({ schema, name }: NamedRow): string {
  return schema === OWN_SCHEMA ? escapeIdentifier(name) : `${escapeIdentifier(schema)}.${escapeIdentifier(name)}`;
}
