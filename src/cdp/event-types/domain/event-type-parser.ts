import { isExactNumber, isAbsent, isObject } from '../../../platform/values/json/json-values';
import type { Fault } from '../../../platform/errors/fault';
import { validationFailed } from '../../../platform/errors/validation-failed';
import { FaultList } from '../../../platform/errors/fault-list';
import {
  enumFault,
  fieldPath,
  formatFault,
  inexactFault,
  emptyFault,
  invalidCharactersFault,
  itemPath,
  requiredFault,
  tooFewItemsFault,
  tooLongFault,
  tooManyItemsFault,
  tooManyKeysFault,
  typeFault,
} from '../../../platform/errors/fault-words';
import { addUnknownFields } from '../../../platform/errors/unknown-fields';
import { hasMoreCharacters, isStorable } from '../../../platform/values/text/text-rules';
import { PATH_NAME } from '../../../platform/values/text/path-name';
import {
  ADDITIONAL_PROPERTIES,
  CONTRACT_FAULTS_MAX,
  DEFINITION_FIELDS,
  DEFINITION_LIMITS,
  PROPERTY_FIELDS,
  PROPERTY_FORMATS,
  PROPERTY_TYPES,
  type EventTypeDefinition,
  type PropertyDefinition,
  type PropertyFormat,
  type PropertyType,
} from './event-type-definition';

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

export interface RegistrationRequest {
  readonly definition: EventTypeDefinition;
  /** Registers the definition even if it breaks the version before it. */
  readonly force: boolean;
}

/**
 * Parses the body of a registration: a definition and `force`. `RegisterEventTypeDto` documents it.
 *
 * Throws `validation_failed` with every fault.
 */
export function parseRegistration(body: unknown): RegistrationRequest {
  if (!isObject(body)) throw validationFailed([typeFault('', 'an object')]);
  const { force, ...definition } = body;
  const forceFaults = isAbsent(force) || typeof force === 'boolean' ? [] : [typeFault('force', 'true or false')];
  const parsed = parseDefinition(definition);
  if ('faults' in parsed) throw validationFailed([...parsed.faults, ...forceFaults]);
  if (forceFaults.length > 0) throw validationFailed(forceFaults);
  return { force: force === true, definition: parsed.definition };
}

/**
 * Parses a definition as a client sends it (contract section 4). Null in an optional field means absent;
 * `additionalProperties` defaults to `reject`. Returns every fault, up to 100.
 */
export function parseDefinition(
  input: unknown,
): { readonly definition: EventTypeDefinition } | { readonly faults: readonly Fault[] } {
  if (!isObject(input)) return { faults: [typeFault('', 'an object')] };
  const faults = new FaultList(CONTRACT_FAULTS_MAX);
  addUnknownFields(input, DEFINITION_FIELDS, { path: '', whole: 'an event type' }, faults);
  const eventType = parseEventType(input['eventType'], faults);
  const description = parseDescription(input['description'], 'description', faults);
  const properties = parseProperties(input['properties'], faults);
  const additional = input['additionalProperties'] ?? 'reject';
  const additionalProperties =
    parseOneOf(additional, ADDITIONAL_PROPERTIES, 'additionalProperties', faults) ?? 'reject';
  if (!faults.isEmpty) return { faults: faults.all() };
  return {
    definition: { eventType, ...(description === undefined ? {} : { description }), properties, additionalProperties },
  };
}

function parseEventType(value: unknown, faults: FaultList): string {
  if (isAbsent(value)) faults.push(requiredFault('eventType'));
  else if (typeof value !== 'string') faults.push(typeFault('eventType', 'a string'));
  else if (PATH_NAME.test(value)) return value;
  else {
    const form = 'must be 1 to 128 letters, digits, dots, hyphens and underscores, beginning with a letter or digit';
    faults.push(formatFault('eventType', form));
  }
  return '';
}

function parseProperties(value: unknown, faults: FaultList): Record<string, PropertyDefinition> {
  const properties = Object.create(null) as Record<string, PropertyDefinition>;
  if (isAbsent(value)) faults.push(requiredFault('properties'));
  else if (!isObject(value)) faults.push(typeFault('properties', 'an object'));
  else {
    const entries = Object.entries(value);
    if (entries.length > DEFINITION_LIMITS.propertiesMax)
      faults.push(tooManyKeysFault('properties', DEFINITION_LIMITS.propertiesMax));
    for (const [name, definition] of entries) {
      const path = fieldPath('properties', name);
      checkPropertyName(name, path, faults);
      const property = parseProperty(definition, path, faults);
      if (property !== undefined) properties[name] = property;
    }
  }
  return properties;
}

/** Whether a definition may have a property of this name. */
export function isPropertyName(name: string): boolean {
  const faults = new FaultList(1);
  checkPropertyName(name, '', faults);
  return faults.isEmpty;
}

function checkPropertyName(name: string, path: string, faults: FaultList): void {
  if (name.trim() === '') faults.push(emptyFault(path));
  else if (UNPRINTABLE.test(name)) faults.push(formatFault(path, 'is a name with characters that cannot be printed'));
  else if (hasMoreCharacters(name, DEFINITION_LIMITS.propertyNameCharactersMax))
    faults.push(tooLongFault(path, DEFINITION_LIMITS.propertyNameCharactersMax));
}

function parseProperty(value: unknown, path: string, faults: FaultList): PropertyDefinition | undefined {
  if (!isObject(value)) {
    faults.push(typeFault(path, 'an object'));
    return undefined;
  }
  addUnknownFields(value, PROPERTY_FIELDS, { path, whole: 'a property definition' }, faults);
  if (isAbsent(value['type'])) faults.push(requiredFault(`${path}.type`));
  const type = isAbsent(value['type']) ? undefined : parseOneOf(value['type'], PROPERTY_TYPES, `${path}.type`, faults);
  const parts = {
    required: parseFlag(value['required'], `${path}.required`, faults),
    enum: parseEnum(value['enum'], type, `${path}.enum`, faults),
    format: parseFormat(value['format'], type, `${path}.format`, faults),
    description: parseDescription(value['description'], `${path}.description`, faults),
    segmentable: parseFlag(value['segmentable'], `${path}.segmentable`, faults),
    pii: parseFlag(value['pii'], `${path}.pii`, faults),
  };
  return type === undefined ? undefined : { type, ...withoutUndefined(parts) };
}

function parseFormat(
  value: unknown,
  type: PropertyType | undefined,
  path: string,
  faults: FaultList,
): PropertyFormat | undefined {
  if (isAbsent(value)) return undefined;
  if (type !== undefined && type !== 'string') faults.push(conflictFault(path, 'type string'));
  return parseOneOf(value, PROPERTY_FORMATS, path, faults);
}

function parseEnum(
  value: unknown,
  type: PropertyType | undefined,
  path: string,
  faults: FaultList,
): (string | number)[] | undefined {
  if (isAbsent(value)) return undefined;
  if (!Array.isArray(value)) {
    faults.push(typeFault(path, 'a list'));
    return undefined;
  }
  if (value.length === 0) faults.push(tooFewItemsFault(path, 1));
  if (value.length > DEFINITION_LIMITS.enumValuesMax)
    faults.push(tooManyItemsFault(path, DEFINITION_LIMITS.enumValuesMax));
  const rule = type === undefined ? undefined : ENUM_RULES[type];
  if (rule === null) faults.push(conflictFault(path, 'type string, number or integer'));
  const seen = new Set<string | number>();
  value.forEach((entry: unknown, index) => {
    const entryPath = itemPath(path, index);
    if (rule && !rule.accepts(entry)) faults.push(typeFault(entryPath, rule.words));
    else if (typeof entry === 'string') checkText(entry, entryPath, DEFINITION_LIMITS.enumValueCharactersMax, faults);
    else if (isInexact(entry)) faults.push(inexactFault(entryPath));
    // Two inexact numbers may have been different before they were parsed.
    if ((typeof entry !== 'string' && typeof entry !== 'number') || isInexact(entry)) return;
    if (seen.has(entry)) {
      faults.push({ path: entryPath, code: 'duplicate', message: `${entryPath} is in the list already.` });
    }
    seen.add(entry);
  });
  return [...seen];
}

interface EnumValueRule {
  readonly accepts: (entry: unknown) => boolean;
  /** What a message calls such a value. */
  readonly words: string;
}

/** The rule for the values of an enum of each type; null: a property of this type has no enum. */
const ENUM_RULES: Readonly<Record<PropertyType, EnumValueRule | null>> = {
  string: { accepts: (entry) => typeof entry === 'string', words: 'a string' },
  number: { accepts: (entry) => typeof entry === 'number', words: 'a number' },
  // A number that a double cannot hold exactly gets the fault `range`, not `type`.
  integer: { accepts: (entry) => Number.isInteger(entry) || isInexact(entry), words: 'an integer' },
  boolean: null,
  timestamp: null,
  object: null,
  array: null,
};

function isInexact(entry: unknown): boolean {
  return typeof entry === 'number' && !isExactNumber(entry);
}

function parseDescription(value: unknown, path: string, faults: FaultList): string | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'string') {
    checkText(value, path, DEFINITION_LIMITS.descriptionCharactersMax, faults);
    return value;
  }
  faults.push(typeFault(path, 'a string'));
  return undefined;
}

function checkText(text: string, path: string, charactersMax: number, faults: FaultList): void {
  if (hasMoreCharacters(text, charactersMax)) faults.push(tooLongFault(path, charactersMax));
  if (!isStorable(text)) faults.push(invalidCharactersFault(path));
}

function parseFlag(value: unknown, path: string, faults: FaultList): boolean | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'boolean') return value;
  faults.push(typeFault(path, 'true or false'));
  return undefined;
}

function parseOneOf<T extends string>(
  value: unknown,
  allowed: readonly T[],
  path: string,
  faults: FaultList,
): T | undefined {
  const found = allowed.find((each) => each === value);
  if (found === undefined)
    faults.push(typeof value === 'string' ? enumFault(path, allowed) : typeFault(path, 'a string'));
  return found;
}

function conflictFault(path: string, companion: string): Fault {
  return {
    path,
    code: 'conflicting_fields',
    message: `${path} goes only with ${companion}; remove it or change the type.`,
  };
}

function withoutUndefined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
