import { FREE_FORM_KEYS_MAX } from '../../../ingest/parse/free-form';
import { EXACT_INTEGER_MAX } from '../../../platform/values/json/json-values';
import type { EventTypeDefinition, PropertyDefinition } from './event-type-definition';

/** A JSON Schema, draft 2020-12. The keywords used mean the same in draft-07. */
export type EventTypeJsonSchema = Readonly<Record<string, unknown>>;

interface PropertiesSchema {
  readonly type: string;
  readonly properties: EventTypeJsonSchema;
  readonly patternProperties?: EventTypeJsonSchema;
  readonly required: string[];
  readonly additionalProperties: boolean;
}

/** The published schema of an event type. */
export interface EventTypeSchema extends PropertiesSchema {
  readonly $schema: string;
  readonly title: string;
  readonly description?: string;
  readonly maxProperties: number;
}

const DAY = '(?:0[1-9]|[12][0-9]|3[01])';
const YEAR = '(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})';
const FOURTH = '(?:0[48]|[2468][048]|[13579][26])';
const DATE =
  `(?:${YEAR}-(?:(?:0[13578]|1[02])-${DAY}|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))` +
  `|(?:[0-9]{2}${FOURTH}|${FOURTH}00)-02-29)`;
const FRACTION = '(?:[.,][0-9]{1,9})?';
const TIME =
  `(?:(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9]${FRACTION})?|24:00(?::00(?:[.,]0{1,9})?)?)` +
  '(?:[Zz]|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)';
const LEAP_SECOND = `23:59:60${FRACTION}[Zz]`;

/**
 * The times that the service accepts (`parseTimestamp`), as a pattern for other tools. `format: date-time` means RFC
 * 3339, which has neither times without seconds nor offsets without minutes. The pattern differs in two cases, which
 * would need pages: it accepts leap seconds in UTC only, and times that an offset moves out of the years 1 to 9999. It
 * has no lookahead and no `\d`, so that Go and Python can use it.
 */
const TIMESTAMP_PATTERN = `^${DATE}[Tt](?:${TIME}|${LEAP_SECOND})$`;

const TIME_SCHEMA: EventTypeJsonSchema = { pattern: TIMESTAMP_PATTERN };
/** A double cannot hold every number beyond these limits exactly (docs/adr/0050). */
const NUMBER_SCHEMA: EventTypeJsonSchema = { minimum: -EXACT_INTEGER_MAX, maximum: EXACT_INTEGER_MAX };

/**
 * The published JSON Schema, for senders that check events before they send them (contract section 4, docs/adr/0022).
 */
export function toJsonSchema(definition: EventTypeDefinition): EventTypeSchema {
  const { eventType, description } = definition;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: eventType,
    ...(description === undefined ? {} : { description }),
    ...propertiesSchema(definition),
    maxProperties: FREE_FORM_KEYS_MAX,
  };
}

function propertiesSchema(definition: EventTypeDefinition): PropertiesSchema {
  const entries = Object.entries(definition.properties);
  // Most tools, including Ajv, lose a key `__proto__` of `properties`. As a pattern it means the same.
  const isPlain = ([name]: readonly [string, unknown]): boolean => name !== '__proto__';
  const plain = entries.filter(isPlain).map(([name, property]) => [name, propertySchema(property)] as const);
  const patterns = entries
    .filter((entry) => !isPlain(entry))
    .map(([, property]) => ['^__proto__$', propertySchema(property)] as const);
  return {
    type: 'object',
    properties: Object.fromEntries(plain),
    ...(patterns.length === 0 ? {} : { patternProperties: Object.fromEntries(patterns) }),
    required: entries.filter(([, property]) => property.required === true).map(([name]) => name),
    additionalProperties: definition.additionalProperties === 'allow',
  };
}

function propertySchema(property: PropertyDefinition): EventTypeJsonSchema {
  const isOptional = property.required !== true;
  const { description } = property;
  const type = property.type === 'timestamp' ? 'string' : property.type;
  return {
    // Null in an optional property means absent (contract section 1).
    type: isOptional ? [type, 'null'] : type,
    ...(property.enum === undefined ? {} : { enum: isOptional ? [...property.enum, null] : property.enum }),
    ...formSchema(property),
    ...(description === undefined ? {} : { description }),
  };
}

function formSchema({ type, format }: PropertyDefinition): EventTypeJsonSchema {
  switch (type) {
    case 'timestamp':
      return TIME_SCHEMA;
    case 'number':
    case 'integer':
      return NUMBER_SCHEMA;
    case 'string':
      if (format === undefined) return {};
      return format === 'date-time' ? TIME_SCHEMA : { format };
    case 'boolean':
    case 'object':
    case 'array':
      return {};
  }
}
