import type { Type } from '@nestjs/common';
import { DECORATORS } from '@nestjs/swagger';
import { getMetadataStorage } from 'class-validator';
import { isReference, type Reference, resolveSchema, type SchemaObject } from '../openapi/open-api-schema';

type Schemas = Readonly<Record<string, SchemaObject | Reference>>;
type Rule = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];
type Keywords = Partial<SchemaObject>;

/** What each of class-validator's rules is in a schema. A rule that is not here cannot be written there. */
const KEYWORDS_OF_RULE: Readonly<Record<string, (constraints: readonly unknown[], schema: SchemaObject) => Keywords>> =
  {
    isDefined: () => ({}),
    isString: () => ({ type: 'string' }),
    isBoolean: () => ({ type: 'boolean' }),
    isNumber: (_, { type }) => ({ type: type === 'integer' ? 'integer' : 'number' }),
    isInt: () => ({ type: 'integer' }),
    isObject: () => ({ type: 'object' }),
    isArray: () => ({ type: 'array' }),
    isIn: ([allowed]) => ({ enum: [...(allowed as unknown[])] }),
    isEnum: ([allowed]) => ({ enum: Object.values(allowed as object) }),
    minLength: ([minLength]) => ({ minLength: Number(minLength) }),
    maxLength: ([maxLength]) => ({ maxLength: Number(maxLength) }),
    isLength: ([minLength, maxLength]) => ({
      minLength: Number(minLength),
      ...(maxLength === undefined ? {} : { maxLength: Number(maxLength) }),
    }),
    matches: ([pattern]) => ({ pattern: patternOf(pattern) }),
    min: ([minimum]) => ({ minimum: Number(minimum) }),
    max: ([maximum]) => ({ maximum: Number(maximum) }),
    arrayMinSize: ([minItems]) => ({ minItems: Number(minItems) }),
    arrayMaxSize: ([maxItems]) => ({ maxItems: Number(maxItems) }),
    arrayNotEmpty: () => ({ minItems: 1 }),
    arrayUnique: () => ({ uniqueItems: true }),
    isUuid: () => ({ format: 'uuid' }),
    isUrl: () => ({ format: 'uri' }),
    isIso8601: () => ({ format: 'date-time' }),
  };
/** They are about presence and nesting, which Swagger writes by itself. */
const STRUCTURAL_RULES = new Set(['conditionalValidation', 'nestedValidation', 'whitelistValidation']);

/**
 * Writes a DTO's class-validator rules into its schema, and those of the classes nested in it.
 *
 * Bodies are checked by their schema, and Swagger's plugin leaves out what it cannot read from the source: `@IsInt`, a
 * `@Matches` or a limit given by a constant, rules for each entry of a list. Such a rule would be documented nowhere and
 * enforced by nobody. So it is written here from what the decorators say at run time, and one that has no counterpart in a
 * schema stops the start.
 */
export function writeRules(dto: Type, schemas: Schemas, seen = new Set<Type>()): void {
  if (seen.has(dto)) return;
  seen.add(dto);
  const properties = resolveSchema({ $ref: dto.name }, schemas)?.properties ?? {};
  for (const rule of getMetadataStorage().getTargetValidationMetadatas(dto, '', true, false)) {
    const property = properties[rule.propertyName];
    if (property === undefined) throw new Error(`${dto.name}.${rule.propertyName} has rules but is not in the schema.`);
    if (!STRUCTURAL_RULES.has(rule.type)) writeRule(rule, property, dto);
  }
  for (const name of Object.keys(properties)) {
    const nested = nestedClass(dto, name);
    if (nested !== undefined && schemas[nested.name] !== undefined) writeRules(nested, schemas, seen);
  }
}

function writeRule(rule: Rule, property: SchemaObject | Reference, dto: Type): void {
  const name = rule.name ?? rule.type;
  const isOfEach = rule.each && !isReference(property) && property.items !== undefined;
  const target = isOfEach ? property.items : property;
  // A schema of its own, such as a named enum, says by itself what it takes.
  if (target === undefined || isReference(target) || target.allOf !== undefined) return;
  const keywordsOf = KEYWORDS_OF_RULE[name];
  if (keywordsOf === undefined) {
    throw new Error(`${dto.name}.${rule.propertyName}: the rule ${name} has no counterpart in a schema.`);
  }
  const keywords = keywordsOf((rule.constraints as unknown[] | undefined) ?? [], target);
  Object.assign(target, keywords);
  if (!isOfEach) return;
  // The plugin writes these beside `items`, where they would be about the list itself.
  for (const keyword of Object.keys(keywords)) {
    if (keyword !== 'type') Reflect.deleteProperty(property, keyword);
  }
}

function patternOf(pattern: unknown): string {
  const expression = pattern instanceof RegExp ? pattern : new RegExp(String(pattern));
  if (/[^u]/.test(expression.flags))
    throw new Error(`A schema's pattern has no flags, but ${String(expression)} does.`);
  return expression.source;
}

/** The class that Swagger knows for a property: itself, in a list, or behind a function that puts off a circular import. */
function nestedClass(dto: Type, name: string): Type | undefined {
  const metadata: unknown = Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES, dto.prototype as object, name);
  let type: unknown = (metadata as { type?: unknown } | undefined)?.type;
  if (typeof type === 'function' && type.prototype === undefined) type = (type as () => unknown)();
  if (Array.isArray(type)) [type] = type as unknown[];
  return typeof type === 'function' ? (type as Type) : undefined;
}
