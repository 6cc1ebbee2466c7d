import type { Schema } from '../../api/api-types';

type Definition = Schema<'PropertyDefinitionDto'>;
type Properties = Readonly<Record<string, unknown>>;

/** Views write this in the place of what they hide. */
const MASKED = /\*{3}/;
const MASKED_EMAIL = /^.?\*{3}@.?\*{3}\.\w+$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;
/** Formats that can be told from values, with what all of them look like. */
const FORMATS: readonly (readonly [NonNullable<Definition['format']>, RegExp])[] = [
  ['email', MASKED_EMAIL],
  ['uuid', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i],
  ['date', /^\d{4}-\d\d-\d\d$/],
  ['uri', /^[a-z][a-z0-9+.-]*:\/\/\S+$/i],
];

/**
 * What properties of events would be declared as: a draft for somebody to look through. A property that every event has is
 * required; one of several types gets the most frequent; one whose values views hide is personal.
 */
export function draftProperties(events: readonly Properties[]): Record<string, Definition> {
  const names = [...new Set(events.flatMap((properties) => Object.keys(properties)))];
  const readable = names.filter((name) => !MASKED.test(name));
  return Object.fromEntries(
    readable.map((name) => {
      const values = events
        .map((properties) => properties[name])
        .filter((value) => value !== undefined && value !== null);
      const definition = definitionOf(values);
      return [name, values.length === events.length ? { ...definition, required: true } : definition];
    }),
  );
}

function definitionOf(values: readonly unknown[]): Definition {
  const type = commonType(values);
  if (type !== 'string') return { type };
  const texts = values.filter((value) => typeof value === 'string');
  const format = FORMATS.find(([, pattern]) => texts.length > 0 && texts.every((text) => pattern.test(text)))?.[0];
  return {
    type,
    ...(format === undefined ? {} : { format }),
    ...(texts.some((text) => MASKED.test(text)) ? { pii: true } : {}),
  };
}

function commonType(values: readonly unknown[]): Definition['type'] {
  const counts = new Map<Definition['type'], number>();
  for (const value of values) counts.set(typeOf(value), (counts.get(typeOf(value)) ?? 0) + 1);
  // Each integer is a number, and each timestamp a text.
  if (counts.has('number')) move(counts, 'integer', 'number');
  if (counts.has('string')) move(counts, 'timestamp', 'string');
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  return most?.[0] ?? 'string';
}

function move(counts: Map<Definition['type'], number>, from: Definition['type'], to: Definition['type']): void {
  counts.set(to, (counts.get(to) ?? 0) + (counts.get(from) ?? 0));
  counts.delete(from);
}

function typeOf(value: unknown): Definition['type'] {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'object') return 'object';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'string' && TIMESTAMP.test(value) ? 'timestamp' : 'string';
}
