import { isAbsent } from '../values/json/is-absent';
import { ByteWriter } from './byte-writer';

// PostgreSQL's binary form of an array (`array_recv` in its sources): a head, then every element behind its length. It takes
// that as it is, where it has to go over the text of an array letter by letter.

/** A type of elements that can be written so. */
export interface ElementType {
  /** Its number in pg_type, the same on every server. */
  readonly oid: number;
  /** Adds an element that is not null, behind its length; false where that is none of this type. */
  readonly add: (bytes: ByteWriter, value: unknown) => boolean;
}

/** By their names in a statement. Times are numbers here: epoch milliseconds. */
export const ELEMENT_TYPES: Readonly<Record<string, ElementType>> = {
  bytea: { oid: 17, add: addBytes },
  int: { oid: 23, add: addInt },
  json: { oid: 114, add: (to, value) => addJson(to, value) },
  jsonb: { oid: 3802, add: (to, value) => addJson(to, value, JSONB_VERSION) },
  smallint: { oid: 21, add: addSmallInt },
  text: { oid: 25, add: addText },
  timestamptz: { oid: 1184, add: addTime },
  uuid: { oid: 2950, add: addUuid },
};

const NULL_LENGTH = -1;
const JSONB_VERSION = 1;
const SMALLINT_MAX = 0x7fff;
const INT_MAX = 0x7fff_ffff;
/** PostgreSQL counts microseconds from 2000 on. */
const EPOCH_2000_MS = Date.UTC(2000);
const TWO_POW_32 = 2 ** 32;
const UUID_LENGTH = 36;
/** Where the hexadecimal digits of a UUID's bytes begin in its text, beside the hyphens. */
const UUID_DIGITS = Uint8Array.of(0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34);
const HYPHEN = '-'.charCodeAt(0);

/** One for all: an array is written in one go. */
const bytes = new ByteWriter();

/** An array of one dimension; undefined where an element is not of the form that is written here. */
export function binaryArray({ oid, add }: ElementType, values: readonly unknown[]): Buffer | undefined {
  // Whatever is left of an array that could not be written.
  bytes.drop();
  bytes.addInt32(values.length === 0 ? 0 : 1);
  bytes.addInt32(values.some(isAbsent) ? 1 : 0);
  bytes.addInt32(oid);
  if (values.length > 0) {
    bytes.addInt32(values.length);
    bytes.addInt32(1);
  }
  for (const value of values) {
    if (isAbsent(value)) bytes.addInt32(NULL_LENGTH);
    else if (!add(bytes, value)) return undefined;
  }
  return bytes.take();
}

function addBytes(to: ByteWriter, value: unknown): boolean {
  if (!Buffer.isBuffer(value)) return false;
  to.addInt32(value.length);
  to.addBytes(value);
  return true;
}

function addText(to: ByteWriter, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  to.addCounted(value);
  return true;
}

/** An object, or a JSON text. */
function addJson(to: ByteWriter, value: unknown, version?: number): boolean {
  if (typeof value !== 'string' && typeof value !== 'object') return false;
  to.addCounted(typeof value === 'string' ? value : JSON.stringify(value), version);
  return true;
}

function addInt(to: ByteWriter, value: unknown): boolean {
  if (!isWithin(value, INT_MAX)) return false;
  to.addInt32(4);
  to.addInt32(value);
  return true;
}

function addSmallInt(to: ByteWriter, value: unknown): boolean {
  if (!isWithin(value, SMALLINT_MAX)) return false;
  to.addInt32(2);
  to.addInt16(value);
  return true;
}

function isWithin(value: unknown, max: number): value is number {
  return Number.isInteger(value) && Math.abs(value as number) <= max;
}

/** In two halves, for a double holds 53 bits, which microseconds exceed from the year 2285 on. */
function addTime(to: ByteWriter, value: unknown): boolean {
  if (!Number.isInteger(value)) return false;
  const ms = (value as number) - EPOCH_2000_MS;
  const high = Math.floor(ms / TWO_POW_32);
  const low = (ms - high * TWO_POW_32) * 1_000;
  const carried = Math.floor(low / TWO_POW_32);
  to.addInt32(8);
  to.addInt32(high * 1_000 + carried);
  to.addInt32(low - carried * TWO_POW_32);
  return true;
}

function addUuid(to: ByteWriter, value: unknown): boolean {
  if (typeof value !== 'string' || !hasFormOfUuid(value)) return false;
  to.addInt32(16);
  return to.addHex(value, UUID_DIGITS);
}

/** Along with its digits, what `isUuid` looks for, in a fifth of the time: there are ten to an event. */
function hasFormOfUuid(text: string): boolean {
  return (
    text.length === UUID_LENGTH && isHyphen(text, 8) && isHyphen(text, 13) && isHyphen(text, 18) && isHyphen(text, 23)
  );
}

function isHyphen(text: string, at: number): boolean {
  return text.charCodeAt(at) === HYPHEN;
}
