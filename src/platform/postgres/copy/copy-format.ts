/*
 * A copy of the database is text: a header line of JSON; then for each table a line of JSON, its rows in the format of COPY,
 * and a line `\.`; then the sequences; last a line with the numbers of rows and a checksum of all lines before. It holds data
 * only. The schema comes from the migrations, so a copy fits any major version of PostgreSQL.
 */

export const COPY_FORMAT = 'campaign-data-service-copy';
/** Version of this format. The service reads this one and refuses others. */
export const COPY_VERSION = 1;
/** The line after the last row of a table, as in the text form of COPY. No row can look like it. */
export const END_OF_ROWS = '\\.\n';

/** Stands for the schema of the service's own tables, wherever the database has them. */
export const OWN_SCHEMA = 'public';
/** The schemas of a copy: of the service's own tables, and of those of the job library. */
export const COPIED_SCHEMAS = [OWN_SCHEMA, 'cds_jobs'] as const;

export interface TableName {
  readonly schema: string;
  readonly name: string;
}

export interface CopiedTable extends TableName {
  readonly columns: readonly string[];
}

/** A partition. The service creates partitions as time passes; migrations do not. */
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

/** The first line. */
export interface CopyHeader {
  readonly format: typeof COPY_FORMAT;
  readonly version: number;
  /** ISO 8601. */
  readonly createdAt: string;
  /** Version of the copied server, such as `17.10`. */
  readonly postgres: string;
  /** Names of the migrations that had run: the version of the schema. */
  readonly migrations: readonly string[];
  /** The last migration of the job library that had run; 0: none. */
  readonly jobsRevision: number;
  readonly partitions: readonly CopiedPartition[];
  /** The content of `secrets.key`, in a backup that carries it. */
  readonly secretsKey?: string;
}

/** The last line. */
export interface CopyEnd {
  /** By table, as `public.events`. */
  readonly rows: Readonly<Record<string, number>>;
  /** SHA-256 over all bytes before this line, in hexadecimal digits. */
  readonly sha256: string;
}

/** Why a copy cannot be read or written, with a message for the operator. */
export class CopyError extends Error {}

export function fullName({ schema, name }: TableName): string {
  return `${schema}.${name}`;
}
