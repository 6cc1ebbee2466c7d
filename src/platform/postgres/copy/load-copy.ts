import { pipeline } from 'node:stream/promises';
import { escapeIdentifier, escapeLiteral, type Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { migrate } from '../schema/migrate';
import { MIGRATIONS } from '../migrations';
import { SteadyClient } from '../steady-client';
import { partitionsOf, quoted, schemaVersionOf, tablesOf } from './copied-tables';
import {
  CopyError,
  fullName,
  type CopiedPartition,
  type CopiedSequence,
  type CopiedTable,
  type CopyEnd,
  type CopyHeader,
} from './copy-format';
import { headerOf, lineOf } from './copy-lines';
import { CopyReader } from './copy-reader';
import { makeSchemaOf } from './copied-schema';
import { TEXT_SETTINGS } from './write-copy';

export interface LoadedCopy {
  readonly header: CopyHeader;
  /** Number of rows by table, such as `public.events`. */
  readonly rows: Readonly<Record<string, number>>;
  /** Tables in the copy that no migration creates; their rows were skipped. */
  readonly unknownTables: readonly string[];
}

export interface LoadCopyOptions {
  /** Called with the first line before anything is changed; it may throw. */
  readonly accept?: (header: CopyHeader) => Promise<void> | void;
}

/**
 * Loads a copy (copy-format.ts) into an empty database: the schema of that time, then all rows in one transaction, then the
 * later migrations. The transaction commits when the checksum and the numbers of rows match. Throws CopyError when the
 * database is not empty, or the copy is damaged or of a newer version; the database then has no rows.
 */
export async function loadCopy(
  url: string,
  source: AsyncIterable<Buffer>,
  { accept }: LoadCopyOptions = {},
): Promise<LoadedCopy> {
  const reader = new CopyReader(source);
  const header = headerOf((await reader.readLine()).content);
  refuseNewer(header);
  await accept?.(header);
  const client = new SteadyClient({ connectionString: url, application_name: 'cds-copy' });
  await client.connect();
  try {
    await client.query(TEXT_SETTINGS);
    await refuseFilled(client, header);
    await makeSchemaOf(url, header);
    const loaded = await new Load(client, reader, header).run();
    // For the planner; autovacuum would do it some time later.
    await client.query('ANALYZE');
    await migrate({ url });
    return { header, ...loaded };
  } finally {
    await client.end();
  }
}

class Load {
  private readonly loaded = new Map<string, number>();
  private readonly unknown: string[] = [];

  constructor(
    private readonly client: Client,
    private readonly reader: CopyReader,
    private readonly header: CopyHeader,
  ) {}

  async run(): Promise<Omit<LoadedCopy, 'header'>> {
    const known = await tablesOf(this.client);
    await this.client.query('BEGIN');
    await this.makePartitions();
    // Migrations record that they have run and may insert rows. The copy has all these rows.
    await this.client.query(`TRUNCATE ${known.map(quoted).join(', ')}`);
    const names = new Set(known.map(fullName));
    for (;;) {
      const { content, checksum } = await this.reader.readLine();
      const line = lineOf(content);
      if ('table' in line) await this.loadTable(line.table, names.has(fullName(line.table)));
      else if ('sequences' in line) await this.setSequences(line.sequences);
      else return await this.finish(line.end, checksum);
    }
  }

  private async makePartitions(): Promise<void> {
    const there = new Set((await partitionsOf(this.client)).map(fullName));
    for (const partition of this.header.partitions.filter((each) => !there.has(fullName(each)))) {
      for (const statement of creation(partition)) await this.client.query(statement);
    }
  }

  private async loadTable(table: CopiedTable, isKnown: boolean): Promise<void> {
    if (!isKnown) {
      this.unknown.push(fullName(table));
      for await (const _rows of this.reader.rows());
      return;
    }
    const columns = table.columns.map(escapeIdentifier).join(', ');
    const target = this.client.query(copyFrom(`COPY ${quoted(table)} (${columns}) FROM STDIN`));
    await pipeline(this.reader.rows(), target);
    this.loaded.set(fullName(table), target.rowCount);
  }

  private async setSequences(sequences: readonly CopiedSequence[]): Promise<void> {
    for (const sequence of sequences) {
      // The parent may be a table that no migration creates.
      await this.client.query('SELECT setval(to_regclass($1), $2::bigint, $3) WHERE to_regclass($1) IS NOT NULL', [
        ...[quoted(sequence), sequence.value, sequence.isCalled],
      ]);
    }
  }

  private async finish(end: CopyEnd, checksum: string): Promise<Omit<LoadedCopy, 'header'>> {
    await this.reader.expectEnd();
    if (end.sha256 !== checksum) throw new CopyError('The copy is damaged: its checksum is not that of its content.');
    const rows = Object.fromEntries(this.loaded);
    const missing = Object.entries(end.rows).find(([name, count]) => (rows[name] ?? count) !== count);
    if (missing !== undefined) throw new CopyError(`Of the table ${missing[0]} not every row was loaded.`);
    await this.client.query('COMMIT');
    return { rows, unknownTables: this.unknown };
  }
}

/** Created apart and then attached, with the indexes of its parent. */
function creation({ schema, name, parent, bound, options }: CopiedPartition): string[] {
  const [table, whole] = [quoted({ schema, name }), quoted({ schema, name: parent })];
  const storage = options.length === 0 ? '' : `WITH (${options.map(storageParameter).join(', ')})`;
  return [
    `CREATE TABLE ${table} (LIKE ${whole} INCLUDING ALL) ${storage}`,
    `ALTER TABLE ${whole} ATTACH PARTITION ${table} ${bound}`,
  ];
}

function storageParameter(option: string): string {
  const [name = '', value = ''] = option.split('=');
  return `${name} = ${escapeLiteral(value)}`;
}

function refuseNewer({ migrations }: CopyHeader): void {
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  const newer = migrations.filter((name) => !known.has(name));
  if (newer.length === 0) return;
  throw new CopyError(
    `The data have a newer schema than this version of the service knows (${newer.join(', ')}): use the version that wrote them, or a newer one.`,
  );
}

/** An interrupted load leaves a part of the schema and no rows, so it can start again. */
async function refuseFilled(client: Client, header: CopyHeader): Promise<void> {
  const { migrations, jobsRevision } = await schemaVersionOf(client);
  const later = migrations.filter((name) => !header.migrations.includes(name));
  if (later.length > 0 || jobsRevision > header.jobsRevision) {
    throw new CopyError('The database has a newer schema than the copy: load it into an empty database.');
  }
  const tables = (await tablesOf(client)).filter(({ name }) => name !== 'migrations');
  for (const table of tables) {
    const { rowCount } = await client.query(`SELECT FROM ${quoted(table)} LIMIT 1`);
    if (rowCount !== 0) throw new CopyError(`The database is not empty: ${fullName(table)} has rows.`);
  }
}
