/*
 * A copy of the database is a text: a line of JSON about the whole, then for each table a line of JSON about it, its rows as
 * COPY writes them and a line `\.`, then the sequences, and at last a line with the number of rows and a checksum over all
 * before it. It holds data only. The schema comes from the migrations, so that a copy fits any major version of PostgreSQL.
 */

export const COPY_FORMAT = 'campaign-data-service-copy';
/** Of the form described above. A version of the service reads this one and refuses others. */
export const COPY_VERSION = 1;
/** The line after the last row of a table, as in the text form of COPY. No row can look like it. */
export const END_OF_ROWS = '\\.\n';

/** The schemas that the service owns: its own tables, and those of the job library. */
export const COPIED_SCHEMAS = ['public', 'cds_jobs'] as const;

export interface TableName {
  readonly schema: string;
  readonly name: string;
}

export interface CopiedTable extends TableName {
  readonly columns: readonly string[];
}

/** A part of a partitioned table, which the service makes as time goes by and no migration does. */
export interface CopiedPartition extends TableName {
  readonly parent: string;
  /** As PostgreSQL writes it: `FOR VALUES FROM ('…') TO ('…')`. */
  readonly bound: string;
  /** Storage parameters: `fillfactor=85`. */
  readonly options: readonly string[];
}

export interface CopiedSequence extends TableName {
  /** As text, since it may be larger than a safe integer. */
  readonly value: string;
  readonly isCalled: boolean;
}

/** What the first line says. */
export interface CopyHeader {
  readonly format: typeof COPY_FORMAT;
  readonly version: number;
  /** ISO 8601. */
  readonly createdAt: string;
  /** Of the server that was copied, as `17.10`. */
  readonly postgres: string;
  /** Names of the migrations that had run: the version of the schema. */
  readonly migrations: readonly string[];
  /** The last migration of the job library that had run; 0: none. */
  readonly jobsRevision: number;
  readonly partitions: readonly CopiedPartition[];
  /** The content of `secrets.key`, in a backup that carries it. */
  readonly secretsKey?: string;
}

/** What the last line says. */
export interface CopyEnd {
  /** By table, as `public.events`. */
  readonly rows: Readonly<Record<string, number>>;
  /** SHA-256 over all bytes before this line, in hexadecimal digits. */
  readonly sha256: string;
}

/** Why a copy cannot be read or made, with words for the operator. */
export class CopyError extends Error {}

export function fullName({ schema, name }: TableName): string {
  return `${schema}.${name}`;
}
