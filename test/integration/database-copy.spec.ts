import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { loadCopy } from '../../src/platform/postgres/copy/load-copy';
import { verifyCopy } from '../../src/platform/postgres/copy/verify-copy';
import { writeCopy } from '../../src/platform/postgres/copy/write-copy';
import { databaseOptions } from '../../src/platform/postgres/database-options';
import { migrate } from '../../src/platform/postgres/schema/migrate';
import { MIGRATIONS } from '../../src/platform/postgres/migrations';
import { messageOf } from '../../src/platform/errors/error-summary';
import { migrateJobs, migrateJobsTo } from '../../src/platform/jobs/jobs-schema';
import { databaseOf, freshDatabaseUrl, rowsOf, withClient } from '../support/database';
import { until } from '../support/until';

const NOW = new Date('2026-11-22T00:00:00Z');

const copyOf = (url: string): Promise<Buffer> => buffer(Readable.from(writeCopy(url, { createdAt: NOW })));
const pieces = (copy: Buffer): AsyncIterable<Buffer> => Readable.from([copy.subarray(0, 1_000), copy.subarray(1_000)]);
const empty = (): Promise<string> => freshDatabaseUrl('target', 'template1');

/** A database with rows whose text is as awkward as it can be, a partition, a job, and sequences that have moved on. */
async function aDatabase(): Promise<string> {
  const url = await freshDatabaseUrl('source');
  await withClient(url, async (client) => {
    await client.query(
      `INSERT INTO workspaces SELECT gen_random_uuid(), E'\\\\.\\n\\t\\r\\\\N "ü" ' || i, now() FROM generate_series(1, 3000) i`,
    );
    await client.query(`CREATE TABLE mutation_outcomes_2026_11_16 (LIKE mutation_outcomes INCLUDING ALL)
      WITH (autovacuum_freeze_min_age = 0)`);
    await client.query(`ALTER TABLE mutation_outcomes ATTACH PARTITION mutation_outcomes_2026_11_16
      FOR VALUES FROM ('2026-11-16T00:00:00Z') TO ('2026-11-23T00:00:00Z')`);
    await client.query(
      `INSERT INTO mutation_outcomes VALUES ($1, '\\.', 'c', 'k', '2026-11-17T01:02:03.456789Z', '\\x00ff',
         '{"z": 1,  "a": 1.10}', $1)`,
      [randomUUID()],
    );
    await client.query(`SELECT cds_jobs.add_job('look', '{"a": "\\n"}'::json, 'queue one', job_key := 'key')`);
  });
  return url;
}

const TABLES = `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname IN ('public', 'cds_jobs') AND c.relkind IN ('r', 'p') ORDER BY 1`;

/** What is in every table, and where every sequence is. */
async function contentOf(url: string): Promise<unknown> {
  const tables = await rowsOf<{ name: string }>(url, TABLES);
  const contents: unknown[] = [];
  for (const { name } of tables) {
    contents.push([
      name,
      await rowsOf(url, `SELECT count(*), md5(string_agg(t::text, E'\\n' ORDER BY t::text)) FROM ${name} t`),
    ]);
  }
  const sequences = await rowsOf(
    url,
    `SELECT schemaname, sequencename, last_value FROM pg_sequences WHERE schemaname IN ('public', 'cds_jobs') ORDER BY 1, 2`,
  );
  return [contents, sequences];
}

async function schemaOf(url: string): Promise<unknown> {
  const columns = `SELECT table_schema, table_name, column_name, data_type, is_nullable FROM information_schema.columns
    WHERE table_schema IN ('public', 'cds_jobs') ORDER BY 1, 2, 3`;
  const indexes = `SELECT indexdef FROM pg_indexes WHERE schemaname IN ('public', 'cds_jobs') ORDER BY 1`;
  const storage = `SELECT relname, reloptions, pg_get_expr(relpartbound, oid) FROM pg_class
    WHERE relkind IN ('r', 'p') AND relnamespace IN ('public'::regnamespace, 'cds_jobs'::regnamespace) ORDER BY 1`;
  return [await rowsOf(url, columns), await rowsOf(url, indexes), await rowsOf(url, storage)];
}

it('a copy has every row, partition and sequence, and can be written on', async () => {
  const source = await aDatabase();
  const copy = await copyOf(source);
  const target = await empty();
  const { rows, unknownTables } = await loadCopy(target, pieces(copy));
  expect([rows['public.workspaces'], rows['public.mutation_outcomes'], unknownTables]).toEqual([3_000, 1, []]);
  expect(await contentOf(target)).toEqual(await contentOf(source));
  expect(await schemaOf(target)).toEqual(await schemaOf(source));
  // Identity columns go on behind what was copied.
  await rowsOf(target, `SELECT cds_jobs.add_job('look', '{}'::json)`);
  expect(await rowsOf(target, 'SELECT id FROM cds_jobs.jobs ORDER BY id')).toHaveLength(2);
});

it('a copy has every row where the tables are in another schema than public, and fits into either', async () => {
  const inOwnSchema = async (name: string): Promise<string> => {
    const url = await freshDatabaseUrl(name, 'template1');
    // The user's own schema comes first in the search path of PostgreSQL.
    await rowsOf(url, 'CREATE SCHEMA AUTHORIZATION CURRENT_USER');
    return url;
  };
  const source = await inOwnSchema('own_schema');
  await migrate({ url: source });
  await rowsOf(source, `INSERT INTO workspaces SELECT gen_random_uuid(), i::text, now() FROM generate_series(1, 30) i`);
  expect(await rowsOf(source, `SELECT FROM pg_tables WHERE schemaname = 'public'`)).toEqual([]);
  const copy = await copyOf(source);
  for (const target of [await empty(), await inOwnSchema('own_target')]) {
    const { rows, unknownTables } = await loadCopy(target, pieces(copy));
    expect([rows['public.workspaces'], unknownTables]).toEqual([30, []]);
    expect(await rowsOf(target, 'SELECT * FROM workspaces ORDER BY name')).toEqual(
      await rowsOf(source, 'SELECT * FROM workspaces ORDER BY name'),
    );
  }
});

it('a copy takes the time that it needs, whatever limits the server or the role sets', async () => {
  const source = await aDatabase();
  for (const limit of ['transaction_timeout', 'idle_in_transaction_session_timeout']) {
    await rowsOf(source, `ALTER DATABASE ${databaseOf(source)} SET ${limit} = '300ms'`);
  }
  const copying = writeCopy(source, { createdAt: NOW });
  const written = [(await copying.next()).value as Buffer];
  await untilEnded(source);
  for await (const piece of copying) written.push(piece);
  const target = await empty();
  const { rows } = await loadCopy(target, pieces(Buffer.concat(written)));
  expect(rows['public.workspaces']).toBe(3_000);
});

/** Until the server has ended a transaction that began now. */
async function untilEnded(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  const ended = new Promise<void>((resolve) => client.once('end', resolve));
  await client.query('BEGIN');
  await ended;
}

it('a copy is of one moment, whatever is written meanwhile', async () => {
  const source = await freshDatabaseUrl('busy');
  await rowsOf(
    source,
    `INSERT INTO profiles SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), repeat('x', 400),
    0, 0, 0, 1, now() FROM generate_series(1, 20000)`,
  );
  // The first table that is copied, and the last: a commit between them must not be in one of the two.
  const pair = `WITH one AS (INSERT INTO workspaces SELECT gen_random_uuid(), gen_random_uuid()::text, now() RETURNING tenant_id)
    INSERT INTO api_keys SELECT tenant_id, tenant_id, 'n', decode(replace(tenant_id::text, '-', ''), 'hex'), 'h', '{}', NULL,
      'api', now(), 'test' FROM one`;
  await withClient(source, async (client) => {
    const copy = writeCopy(source, { createdAt: NOW });
    const read: Buffer[] = [];
    for (let turn = await copy.next(); turn.done !== true; turn = await copy.next()) {
      read.push(turn.value);
      if (read.length % 5 === 0) await client.query(pair);
    }
    expect(read.length).toBeGreaterThan(50);
    const target = await empty();
    const { rows } = await loadCopy(target, pieces(Buffer.concat(read)));
    expect(rows['public.workspaces']).toBe(rows['public.api_keys']);
    const all = await rowsOf<{ all: number }>(source, 'SELECT count(*)::int AS all FROM workspaces');
    expect(all[0]!.all).toBeGreaterThan(rows['public.workspaces']!);
  });
});

describe('a copy that is not whole', () => {
  let copy: Buffer;

  beforeAll(async () => {
    copy = await copyOf(await aDatabase());
  });

  async function refusalOf(damaged: Buffer): Promise<string> {
    const verified = await verifyCopy(pieces(damaged)).catch(messageOf);
    expect(verified).toEqual(expect.any(String));
    const target = await empty();
    const refusal = await loadCopy(target, pieces(damaged)).then(() => 'loaded', messageOf);
    const there = await rowsOf<{ name: string | null }>(target, `SELECT to_regclass('workspaces')::text AS name`);
    if (there[0]!.name !== null) expect(await rowsOf(target, 'SELECT 1 FROM workspaces')).toEqual([]);
    return refusal;
  }

  it('is loaded by nobody: cut short, a letter changed, a row left out, something behind it', async () => {
    expect(await refusalOf(copy.subarray(0, copy.length - 2))).toMatch('cut short');
    expect(await refusalOf(copy.subarray(0, copy.indexOf('\\.\n', 3_000)))).toMatch('cut short');
    const changed = Buffer.from(copy);
    changed.writeUInt8(0x7a, copy.indexOf('ü') + 3);
    expect(await refusalOf(changed)).toMatch('checksum');
    expect(await refusalOf(Buffer.concat([copy, Buffer.from('{}\n')]))).toMatch('goes on');
  });

  it('is loaded by nobody: another form, and no copy at all', async () => {
    const other = Buffer.from(copy.toString('latin1').replace('"version":1', '"version":2'), 'latin1');
    expect(await refusalOf(other)).toMatch('form 2');
    expect(await refusalOf(Buffer.from('{}\n'))).toMatch('no copy');
  });

  it('cannot have anything run that is no name and no row', async () => {
    const bound = copy.toString('latin1').replace("') TO ('", "') TO ('x'); DROP TABLE workspaces; --");
    expect(await refusalOf(Buffer.from(bound, 'latin1'))).toMatch('damaged');
  });
});

describe('the schema', () => {
  it('of a newer version is refused before anything is changed', async () => {
    const source = await freshDatabaseUrl('newer');
    await rowsOf(source, `INSERT INTO migrations (timestamp, name) VALUES (9999999999999, 'Later9999999999999')`);
    const target = await empty();
    await expect(loadCopy(target, pieces(await copyOf(source)))).rejects.toThrow(/newer schema .*Later9999999999999/);
    expect(await rowsOf(target, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
  });

  it('of an older version is made as it was, and migrated with the rows; the job library’s too', async () => {
    const source = await freshDatabaseUrl('older', 'template1');
    const older = new DataSource({ ...databaseOptions({ url: source }), migrations: MIGRATIONS.slice(0, 6) });
    await older.initialize();
    await older.runMigrations();
    await older.destroy();
    await migrateJobsTo({ url: source }, 17);
    await rowsOf(source, `INSERT INTO profile_merges SELECT $1, $1, $1, $1, $1, now()`, [randomUUID()]);
    await rowsOf(source, `SELECT cds_jobs.add_job('look', '{}'::json, job_key := 'kept')`);
    const target = await empty();
    await loadCopy(target, pieces(await copyOf(source)));
    // What the seventh migration makes of a row.
    expect(await rowsOf(target, 'SELECT 1 FROM profile_merges WHERE from_evidence_id = from_profile_id')).toHaveLength(
      1,
    );
    expect(await rowsOf(target, `SELECT key FROM cds_jobs.jobs`)).toEqual([{ key: 'kept' }]);
    const whole = await empty();
    await migrate({ url: whole });
    expect(await schemaOf(target)).toEqual(await schemaOf(whole));
    expect(await rowsOf(target, 'SELECT max(id) FROM cds_jobs.migrations')).toEqual(
      await rowsOf(whole, 'SELECT max(id) FROM cds_jobs.migrations'),
    );
  });

  it('of the job library is the one that the library makes', async () => {
    const [ours, theirs] = [await empty(), await empty()];
    await migrateJobsTo({ url: ours }, 1_000);
    await migrateJobs({ url: theirs });
    expect(await schemaOf(ours)).toEqual(await schemaOf(theirs));
  });
});

describe('a database that is not empty', () => {
  it('is left as it is', async () => {
    const copy = await copyOf(await aDatabase());
    const target = await freshDatabaseUrl('filled');
    await rowsOf(target, `INSERT INTO workspaces VALUES ($1, 'mine', now())`, [randomUUID()]);
    await expect(loadCopy(target, pieces(copy))).rejects.toThrow(
      'The database is not empty: public.workspaces has rows.',
    );
    expect(await rowsOf(target, 'SELECT name FROM workspaces')).toEqual([{ name: 'mine' }]);
  });

  it('is loaded after all when a load before has left the schema, and no row', async () => {
    const source = await aDatabase();
    const copy = await copyOf(source);
    const target = await empty();
    await expect(loadCopy(target, pieces(copy.subarray(0, copy.length - 2)))).rejects.toThrow('cut short');
    await loadCopy(target, pieces(copy));
    expect(await contentOf(target)).toEqual(await contentOf(source));
  });
});

it('tables that no migration makes are left out, and named', async () => {
  const source = await aDatabase();
  await rowsOf(source, `CREATE TABLE notes AS SELECT 'of somebody' AS note FROM generate_series(1, 10)`);
  const target = await empty();
  const { unknownTables } = await loadCopy(target, pieces(await copyOf(source)));
  expect(unknownTables).toEqual(['public.notes']);
  expect(await rowsOf(target, 'SELECT 1 FROM workspaces')).toHaveLength(3_000);
});

it('a reader that goes away ends the copy, and its session', async () => {
  const source = await freshDatabaseUrl('left');
  await rowsOf(
    source,
    `INSERT INTO workspaces SELECT gen_random_uuid(), repeat('x', 900) || i, now() FROM generate_series(1, 20000) i`,
  );
  for await (const piece of writeCopy(source, { createdAt: NOW })) {
    if (piece.length > 10_000) break;
  }
  const client = new Client({ connectionString: source });
  await client.connect();
  const sessions = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'cds-copy'`;

  await until(async () => (await client.query(sessions)).rowCount === 0);
  await client.end();
});
