import { isReference, type Reference, type SchemaObject } from '../openapi/open-api-schema';

/**
 * A schema in two parts. `rules` is plain JSON Schema for Ajv. `shape` is for the walk over a body, which finds unknown fields.
 * Ajv could do that too, but would collect all of a hundred thousand unknown fields in a hostile body.
 */
export interface BodySchema {
  readonly rules: JsonSchema;
  /** Undefined for scalars and free-form values, which the walk does not enter. */
  readonly shape?: Shape;
}

export type JsonSchema = Readonly<Record<string, unknown>>;
export type Shape = ObjectShape | ListShape;

export interface ObjectShape {
  readonly kind: 'object';
  /** Declared fields in the schema's order. */
  readonly fields: ReadonlyMap<string, FieldShape>;
  /** Whether other fields are refused. */
  readonly closed: boolean;
  /** The shape of values under keys that the client chooses. */
  readonly each?: Shape | undefined;
  readonly keysMax: number;
}

export interface FieldShape {
  readonly position: number;
  /** Contract section 1: an explicit null in an optional field means absent. In a required one it counts as missing. */
  readonly nullIsAbsent: boolean;
  readonly shape?: Shape | undefined;
}

export interface ListShape {
  readonly kind: 'list';
  readonly itemsMax: number;
  readonly each?: Shape | undefined;
}

type Components = Readonly<Record<string, SchemaObject | Reference>>;

interface Context {
  readonly components: Components;
  /** Where we are, for error messages, and through which components we came, to notice a schema inside itself. */
  readonly location: string;
  readonly via: readonly string[];
}

const CHECKED = [
  'type',
  'enum',
  'minLength',
  'maxLength',
  'pattern',
  'multipleOf',
  'minItems',
  'uniqueItems',
  'minProperties',
];
const STRUCTURE = [
  ...[
    'properties',
    'required',
    'additionalProperties',
    'items',
    'maxItems',
    'maxProperties',
    'allOf',
    'oneOf',
    'anyOf',
  ],
  ...['nullable', 'format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
];
const ANNOTATIONS = [
  'title',
  'description',
  'default',
  'example',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'externalDocs',
];
const KNOWN_KEYWORDS = new Set([...CHECKED, ...STRUCTURE, ...ANNOTATIONS]);
const CHECKED_FORMATS = new Set(['date-time', 'uuid', 'uri']);
/** Formats that describe representation and restrict no values. */
const DESCRIPTIVE_FORMATS = new Set(['int32', 'int64', 'float', 'double', 'password']);
const PLAIN_TYPES = new Set(['string', 'number', 'integer', 'boolean']);

/**
 * Translates an OpenAPI 3.0 schema. A rule that cannot be checked stops the start with an error that names the location, so
 * that every documented rule is enforced.
 */
export function bodySchema(schema: SchemaObject | Reference, components: Components, location = 'body'): BodySchema {
  return translate(schema, { components, location, via: [] });
}

function translate(schema: SchemaObject | Reference, context: Context): BodySchema {
  if (isReference(schema)) return translateReference(schema, context);
  const unknown = Object.keys(schema).find((keyword) => !KNOWN_KEYWORDS.has(keyword) && !keyword.startsWith('x-'));
  if (unknown !== undefined) throw new Error(`${context.location}: the schema keyword ${unknown} is not supported.`);
  const [onlyPart, ...otherParts] = schema.allOf ?? [];
  if (onlyPart !== undefined) {
    if (otherParts.length > 0) throw new Error(`${context.location}: allOf with several schemas is not supported.`);
    return translate(onlyPart, context);
  }
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (alternatives !== undefined) return { rules: unionRules(alternatives, context) };
  if (schema.type === 'array') return translateList(schema, context);
  if (schema.type === 'object') return translateObject(schema, context);
  return { rules: scalarRules(schema, context) };
}

function translateReference({ $ref }: Reference, context: Context): BodySchema {
  const name = $ref.replace('#/components/schemas/', '');
  const target = context.components[name];
  if (target === undefined) throw new Error(`${context.location}: there is no schema ${$ref}.`);
  // The client would decide the depth of such a body, and a deep one would overflow the stack.
  if (context.via.includes(name)) throw new Error(`${context.location}: the schema ${name} contains itself.`);
  return translate(target, { ...context, via: [...context.via, name] });
}

/** Only unions of plain types: for other alternatives neither the walk nor a message could know which one is meant. */
function unionRules(alternatives: readonly (SchemaObject | Reference)[], context: Context): JsonSchema {
  const rules = alternatives.map((alternative) => translate(alternative, context).rules);
  const isPlain = ({ type, ...others }: JsonSchema): boolean =>
    typeof type === 'string' && PLAIN_TYPES.has(type) && Object.keys(others).length === 0;
  if (!rules.every(isPlain)) throw new Error(`${context.location}: oneOf and anyOf take plain types only.`);
  return { type: [...new Set(rules.map((rule) => rule['type']))] };
}

function translateObject(schema: SchemaObject, context: Context): BodySchema {
  const { additionalProperties: others, properties, maxProperties: keysMax = Infinity } = schema;
  const required = new Set(schema.required ?? []);
  const fields = new Map<string, FieldShape>();
  const rules: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(properties ?? {})) {
    const inner = translate(field, { ...context, location: `${context.location}.${name}` });
    const nullable = required.has(name) && isNullable(field, context);
    rules[name] = nullable ? orNull(inner.rules) : inner.rules;
    fields.set(name, { position: fields.size, nullIsAbsent: !nullable, shape: inner.shape });
  }
  const each =
    typeof others === 'object' ? translate(others, { ...context, location: `${context.location}[key]` }) : undefined;
  if (each !== undefined && keysMax === Infinity) throw new Error(`${context.location}: a map needs maxProperties.`);
  // A type without declared fields is free-form, like `attributes`; a class without fields takes none.
  const closed = properties !== undefined && (others === undefined || others === false);
  const isFreeForm = fields.size === 0 && !closed && each === undefined && keysMax === Infinity;
  return {
    rules: {
      ...scalarRules(schema, context),
      ...(fields.size === 0 ? {} : { properties: rules }),
      ...(required.size === 0 ? {} : { required: [...required] }),
      ...(each === undefined ? {} : { additionalProperties: each.rules }),
    },
    ...(isFreeForm ? {} : { shape: { kind: 'object', fields, closed, each: each?.shape, keysMax } }),
  };
}

function translateList(schema: SchemaObject, context: Context): BodySchema {
  const { items = {}, maxItems: itemsMax = Infinity } = schema;
  const each = translate(items, { ...context, location: `${context.location}[]` });
  const isOpaque = Object.keys(each.rules).length === 0;
  if (!isOpaque && itemsMax === Infinity) throw new Error(`${context.location}: a list needs maxItems.`);
  return {
    rules: { ...scalarRules(schema, context), ...(isOpaque ? {} : { items: each.rules }) },
    shape: { kind: 'list', itemsMax, each: each.shape },
  };
}

function scalarRules(schema: SchemaObject, { location }: Context): JsonSchema {
  const rules: Record<string, unknown> = {};
  for (const keyword of CHECKED) {
    const value: unknown = schema[keyword as keyof SchemaObject];
    if (value !== undefined) rules[keyword] = value;
  }
  const { format, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (format !== undefined && CHECKED_FORMATS.has(format)) rules['format'] = format;
  else if (format !== undefined && !DESCRIPTIVE_FORMATS.has(format)) {
    throw new Error(`${location}: the format ${format} is not checked here.`);
  }
  // OpenAPI 3.0 has flags where JSON Schema has numbers.
  if (minimum !== undefined) rules[exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum'] = minimum;
  if (maximum !== undefined) rules[exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum'] = maximum;
  return rules;
}

function isNullable(schema: SchemaObject | Reference, { components }: Context): boolean {
  if (!isReference(schema)) return schema.nullable === true;
  const target = components[schema.$ref.replace('#/components/schemas/', '')];
  return target !== undefined && !isReference(target) && target.nullable === true;
}

function orNull({ type, enum: allowed, ...rules }: JsonSchema): JsonSchema {
  return {
    ...rules,
    ...(type === undefined ? {} : { type: [type, 'null'].flat() }),
    ...(Array.isArray(allowed) ? { enum: [...(allowed as unknown[]), null] } : {}),
  };
}
