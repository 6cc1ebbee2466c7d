/** A parameter in the form that PostgreSQL reads: text, bytes, or null. */
export type WireValue = string | Buffer | null;

/** Reads as itself between the commas of an array. */
const PLAIN_ELEMENT = /^[\w.:+-]+$/;

/** Writes a parameter: objects as JSON, arrays as arrays, undefined as null. */
export function wireValue(value: unknown): WireValue {
  return Array.isArray(value) ? arrayText(value) : Buffer.isBuffer(value) ? value : scalarText(value);
}

/** Most of our arrays hold ids and numbers by the hundred, which need neither quotes nor a look for what to escape. */
function arrayText(values: readonly unknown[]): string {
  let text = '';
  for (const value of values) text += `${text === '' ? '{' : ','}${elementText(value)}`;
  return text === '' ? '{}' : `${text}}`;
}

function elementText(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return arrayText(value);
  if (isPlainObject(value)) return jsonElement(value);
  const text = Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : scalarText(value);
  if (text === null) return 'NULL';
  return PLAIN_ELEMENT.test(text) && !readsAsNull(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** JSON text has no control characters, so that quoting it as JSON again escapes what an array wants escaped, and at once. */
function jsonElement(value: object): string {
  return JSON.stringify(JSON.stringify(value));
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Date) && !Buffer.isBuffer(value);
}

function readsAsNull(text: string): boolean {
  return text.length === 4 && text.toUpperCase() === 'NULL';
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
    default:
      throw new TypeError(`PostgreSQL has no form for a ${typeof value}`);
  }
}
