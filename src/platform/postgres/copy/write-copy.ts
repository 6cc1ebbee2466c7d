import { createHash } from 'node:crypto';
import { escapeIdentifier, type Client } from 'pg';
import { to as copyTo, type CopyToStreamQuery } from 'pg-copy-streams';
import { SteadyClient } from '../steady-client';
import { beginSnapshot, partitionsOf, quoted, refuseDistributed, schemaVersionOf, sequencesOf } from './copied-tables';
import {
  COPY_FORMAT,
  COPY_VERSION,
  END_OF_ROWS,
  fullName,
  type CopiedTable,
  type CopyEnd,
  type CopyHeader,
} from './copy-format';

export interface WriteCopyOptions {
  readonly createdAt: Date;
  readonly secretsKey?: string | undefined;
}

/** Servers before PostgreSQL 17 know no such limit. */
const UNLIMITED_TRANSACTIONS = `SELECT set_config('transaction_timeout', '0', false)
  WHERE current_setting('transaction_timeout', true) IS NOT NULL`;

/** Values are then written in full and in the same way, whatever the settings of the server. */
export const TEXT_SETTINGS = `SET TIME ZONE 'UTC'; SET datestyle = 'ISO'; SET intervalstyle = 'postgres';
  SET extra_float_digits = 3; SET bytea_output = 'hex'; SET client_encoding = 'UTF8'; SET statement_timeout = 0;
  SET idle_in_transaction_session_timeout = 0; SET lock_timeout = 0; SET idle_session_timeout = 0;
  ${UNLIMITED_TRANSACTIONS}`;

/**
 * Writes a copy of one snapshot of the database (copy-format.ts) in chunks, in constant memory. The database may be in use:
 * only statements that alter or drop tables wait.
 */
export async function* writeCopy(url: string, options: WriteCopyOptions): AsyncGenerator<Buffer, CopyEnd> {
  const client = new SteadyClient({ connectionString: url, application_name: 'cds-copy' });
  await client.connect();
  try {
    await client.query(TEXT_SETTINGS);
    await refuseDistributed(client);
    const tables = await beginSnapshot(client);
    const hash = createHash('sha256');
    const hashed = (text: string): Buffer => {
      const piece = Buffer.from(text);
      hash.update(piece);
      return piece;
    };
    yield hashed(line(await headerOf(client, options)));
    const streams: { readonly table: CopiedTable; readonly stream: CopyToStreamQuery }[] = [];
    for (const table of tables) {
      yield hashed(line({ table }));
      const stream = client.query(copyTo(copyOutText(table)));
      for await (const piece of stream as AsyncIterable<Buffer>) {
        hash.update(piece);
        yield piece;
      }
      yield hashed(END_OF_ROWS);
      streams.push({ table, stream });
    }
    yield hashed(line({ sequences: await sequencesOf(client) }));
    // The server counts the rows of a table; the number is known when it answers the next statement.
    const rows = Object.fromEntries(streams.map(({ table, stream }) => [fullName(table), stream.rowCount]));
    const end: CopyEnd = { rows, sha256: hash.digest('hex') };
    yield Buffer.from(line({ end }));
    await client.query('COMMIT');
    return end;
  } finally {
    await client.end();
  }
}

async function headerOf(client: Client, { createdAt, secretsKey }: WriteCopyOptions): Promise<CopyHeader> {
  const { rows } = await client.query<{ version: string }>(`SELECT current_setting('server_version') AS version`);
  return {
    format: COPY_FORMAT,
    version: COPY_VERSION,
    createdAt: createdAt.toISOString(),
    postgres: rows[0]?.version.split(' ')[0] ?? '',
    ...(await schemaVersionOf(client)),
    partitions: await partitionsOf(client),
    ...(secretsKey === undefined ? {} : { secretsKey }),
  };
}

/** COPY of a table name would skip its partitions, and include columns that a migration adds meanwhile. */
function copyOutText(table: CopiedTable): string {
  return `COPY (SELECT ${table.columns.map(escapeIdentifier).join(', ')} FROM ${quoted(table)}) TO STDOUT`;
}

function line(content: unknown): string {
  return `${JSON.stringify(content)}\n`;
}
