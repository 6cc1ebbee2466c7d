import { isObject } from '../../values/json/json-values';
import {
  COPIED_SCHEMAS,
  COPY_FORMAT,
  COPY_VERSION,
  CopyError,
  type CopiedPartition,
  type CopiedSequence,
  type CopiedTable,
  type CopyEnd,
  type CopyHeader,
} from './copy-format';

/*
 * The allowed values in the lines of a copy. Names are quoted in SQL. Partition bounds and storage parameters cannot be
 * quoted, so only those that the service itself creates are accepted.
 */

const BOUND = /^FOR VALUES FROM \('[^'\\]*'\) TO \('[^'\\]*'\)$/;
const STORAGE_PARAMETER = /^[a-z_.]+=[\w.-]+$/;
const SEQUENCE_VALUE = /^-?\d{1,19}$/;

/** Throws when the file is not a copy, or has another format. */
export function headerOf(content: unknown): CopyHeader {
  if (!isObject(content) || content['format'] !== COPY_FORMAT) {
    throw new CopyError('This is no copy that the service has written.');
  }
  if (content['version'] !== COPY_VERSION) {
    const written = String(content['version']);
    throw new CopyError(`The copy has form ${written}, and this version of the service reads form ${COPY_VERSION}.`);
  }
  const { createdAt, postgres, migrations, jobsRevision, partitions, secretsKey } = content;
  const isSound =
    typeof createdAt === 'string' &&
    typeof postgres === 'string' &&
    isListOf(migrations, isText) &&
    Number.isInteger(jobsRevision) &&
    isListOf(partitions, isPartition) &&
    (secretsKey === undefined || typeof secretsKey === 'string');
  if (!isSound) throw damaged();
  return content as unknown as CopyHeader;
}

export type CopyLine =
  { readonly table: CopiedTable } | { readonly sequences: readonly CopiedSequence[] } | { readonly end: CopyEnd };

/** A line after the first. */
export function lineOf(content: unknown): CopyLine {
  if (isObject(content)) {
    const { table, sequences, end } = content;
    if (isTable(table)) return { table };
    if (isListOf(sequences, isSequence)) return { sequences };
    if (isEnd(end)) return { end };
  }
  throw damaged();
}

function isTable(value: unknown): value is CopiedTable {
  return isNamed(value) && isListOf(value['columns'], isText);
}

function isPartition(value: unknown): value is CopiedPartition {
  if (!isNamed(value)) return false;
  const { parent, bound, options } = value;
  const isOption = (option: unknown): option is string => isText(option) && STORAGE_PARAMETER.test(option);
  return isText(parent) && isText(bound) && BOUND.test(bound) && isListOf(options, isOption);
}

function isSequence(value: unknown): value is CopiedSequence {
  if (!isNamed(value)) return false;
  const { value: state, isCalled } = value;
  return isText(state) && SEQUENCE_VALUE.test(state) && typeof isCalled === 'boolean';
}

function isEnd(value: unknown): value is CopyEnd {
  return isObject(value) && isObject(value['rows']) && isText(value['sha256']);
}

function isNamed(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && COPIED_SCHEMAS.some((schema) => schema === value['schema']) && isText(value['name']);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isListOf<T>(value: unknown, isOne: (one: unknown) => one is T): value is readonly T[] {
  return Array.isArray(value) && value.every(isOne);
}

function damaged(): CopyError {
  return new CopyError('The copy is damaged: a line of it says nothing that the service writes.');
}
