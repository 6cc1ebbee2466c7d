import { hasMoreCharacters } from '../../../platform/values/text/text-rules';
import {
  DEFINITION_LIMITS,
  type PropertyDefinition,
  type PropertyFormat,
  type PropertyType,
} from './event-type-definition';

type Properties = Readonly<Record<string, unknown>>;

/** What views write in the place of an email address. */
const MASKED_EMAIL = /^.?\*{3}@.?\*{3}\.\w+$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;
/** Formats that shown values tell, with what all of them look like. A text has at most 64 KiB; each check reads it once. */
const FORMATS: readonly (readonly [PropertyFormat, RegExp])[] = [
  ['email', MASKED_EMAIL],
  ['uuid', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i],
  ['date', /^\d{4}-\d\d-\d\d$/],
  ['uri', /^[a-z][a-z0-9+.-]{0,30}:\/\/\S+$/i],
];

interface SeenProperty {
  /** Values other than null. */
  count: number;
  readonly types: Map<PropertyType, number>;
  formats: readonly (readonly [PropertyFormat, RegExp])[];
  isPersonal: boolean;
}

/**
 * Makes a draft of what the properties of events would be declared as, for somebody to look through. A property that every
 * event has is required; one of several types gets the most frequent; one whose values views hide is personal. Keeps no
 * values, and no more properties than a definition may have.
 */
export class PropertyInference {
  private events = 0;
  private readonly seen = new Map<string, SeenProperty>();

  /** `shown`: the properties as views mask them. A name that views hide is left out. */
  add(properties: Properties, shown: Properties): void {
    this.events += 1;
    for (const [name, value] of Object.entries(properties)) {
      if (value === null || !Object.hasOwn(shown, name)) continue;
      const property = this.propertyOf(name);
      if (property !== undefined) note(property, value, shown[name]);
    }
  }

  /** Without a prototype, so that each name is one like any other. */
  result(): Record<string, PropertyDefinition> {
    const properties = Object.create(null) as Record<string, PropertyDefinition>;
    for (const [name, property] of this.seen) {
      properties[name] = { ...definitionOf(property), ...(property.count === this.events ? { required: true } : {}) };
    }
    return properties;
  }

  private propertyOf(name: string): SeenProperty | undefined {
    const known = this.seen.get(name);
    const { propertiesMax, propertyNameCharactersMax } = DEFINITION_LIMITS;
    const isTooMuch = this.seen.size >= propertiesMax || hasMoreCharacters(name, propertyNameCharactersMax);
    if (known !== undefined || isTooMuch) return known;
    const added = { count: 0, types: new Map<PropertyType, number>(), formats: FORMATS, isPersonal: false };
    this.seen.set(name, added);
    return added;
  }
}

function note(property: SeenProperty, value: unknown, shown: unknown): void {
  const type = typeOf(value);
  property.count += 1;
  property.types.set(type, (property.types.get(type) ?? 0) + 1);
  if (typeof value === 'object' ? typeof shown !== 'object' : shown !== value) property.isPersonal = true;
  // Of what views hide, only what they show of it tells a format.
  if (typeof shown === 'string') property.formats = property.formats.filter(([, pattern]) => pattern.test(shown));
}

function definitionOf({ types, formats: [format], isPersonal }: SeenProperty): PropertyDefinition {
  const type = commonType(new Map(types));
  const isFormatted = type === 'string' && format !== undefined;
  return { type, ...(isFormatted ? { format: format[0] } : {}), ...(isPersonal ? { pii: true } : {}) };
}

function commonType(counts: Map<PropertyType, number>): PropertyType {
  // Each integer is a number, and each timestamp a text.
  if (counts.has('number')) move(counts, 'integer', 'number');
  if (counts.has('string')) move(counts, 'timestamp', 'string');
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  return most?.[0] ?? 'string';
}

function move(counts: Map<PropertyType, number>, from: PropertyType, to: PropertyType): void {
  counts.set(to, (counts.get(to) ?? 0) + (counts.get(from) ?? 0));
  counts.delete(from);
}

function typeOf(value: unknown): PropertyType {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'object') return 'object';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'string' && TIMESTAMP.test(value) ? 'timestamp' : 'string';
}
