import { parseTimestamp } from '../../../platform/values/timestamp';
import { compileFormat } from './event-contract';
import {
  DEFINITION_LIMITS,
  type PropertyDefinition,
  type PropertyFormat,
  type PropertyType,
} from './event-type-definition';
import { isPropertyName } from './event-type-parser';

type Properties = Readonly<Record<string, unknown>>;

/** What views write in the place of an email address. */
const MASKED_EMAIL = /^.?\*{3}@.?\*{3}\.\w+$/;
/** Formats that shown values tell, beside that of email addresses. A text has at most 64 KiB; each check reads it once. */
const TOLD_FORMATS = ['uuid', 'date', 'uri'] as const satisfies readonly PropertyFormat[];

/** A format, and whether a shown text has it. */
type FormatCheck = readonly [PropertyFormat, (shown: string) => boolean];

interface SeenProperty {
  /** Values other than null. */
  count: number;
  readonly types: Map<PropertyType, number>;
  formats: readonly FormatCheck[];
  isPersonal: boolean;
}

/**
 * Makes a draft of what the properties of events would be declared as, for somebody to look through. A property that every
 * event has is required; one of several types gets the most frequent; one whose values views hide is personal. Keeps no
 * values, and only properties that a definition may have.
 */
export class PropertyInference {
  private events = 0;
  private readonly formats: readonly FormatCheck[] = [
    ['email', (shown) => MASKED_EMAIL.test(shown)],
    ...TOLD_FORMATS.map((format): FormatCheck => [format, compileFormat(format)]),
  ];
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
    if (known !== undefined || this.seen.size >= DEFINITION_LIMITS.propertiesMax || !isPropertyName(name)) return known;
    const added = { count: 0, types: new Map<PropertyType, number>(), formats: this.formats, isPersonal: false };
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
  if (typeof shown === 'string') property.formats = property.formats.filter(([, hasFormat]) => hasFormat(shown));
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
  return typeof value === 'string' && 'at' in parseTimestamp(value) ? 'timestamp' : 'string';
}
