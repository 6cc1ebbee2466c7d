import { binaryArray, ELEMENT_TYPES, type ElementType } from './binary-arrays';
import type { Statement } from './statement';

/** A parameter as PostgreSQL reads it: text, bytes in the binary format, or null. */
export type WireValue = string | Buffer | null;

/** An array parameter of a statement. */
const ARRAY_PARAMETER = /\$(\d+)::(\w+)\[\]/g;

/** By the name of the statement, then by parameter. */
const elementTypes = new Map<string, readonly (ElementType | undefined)[]>();

/** Encodes the parameters of a statement: objects as JSON, undefined as null, arrays with a known element type in binary. */
export function wireValues(statement: Statement, values: readonly unknown[]): WireValue[] {
  const types = elementTypesOf(statement);
  return values.map((value, index) => {
    if (!Array.isArray(value)) return Buffer.isBuffer(value) ? value : scalarText(value);
    const type = types[index];
    return (type && binaryArray(type, value)) ?? arrayText(value);
  });
}

function elementTypesOf({ name, text }: Statement): readonly (ElementType | undefined)[] {
  const known = elementTypes.get(name);
  if (known !== undefined) return known;
  const types: (ElementType | undefined)[] = [];
  for (const [, number, type = ''] of text.matchAll(ARRAY_PARAMETER)) types[Number(number) - 1] = ELEMENT_TYPES[type];
  elementTypes.set(name, types);
  return types;
}

function arrayText(values: readonly unknown[]): string {
  let text = '';
  for (const value of values) text += `${text === '' ? '{' : ','}${elementText(value)}`;
  return text === '' ? '{}' : `${text}}`;
}

function elementText(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return arrayText(value);
  const text = Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : scalarText(value);
  if (text === null) return 'NULL';
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

function scalarText(value: unknown): string | null {
  switch (typeof value) {
    case 'string':
      return value;
    case 'undefined':
      return null;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'object':
      return value === null ? null : value instanceof Date ? value.toISOString() : JSON.stringify(value);
    case 'function':
    case 'symbol':
      throw new TypeError(`PostgreSQL has no form for a ${typeof value}`);
  }
}
