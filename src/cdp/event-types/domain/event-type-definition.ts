import { isExactNumber } from '../../../platform/values/json/exact-number';
import { isAbsent } from '../../../platform/values/json/is-absent';
import { isObject } from '../../../platform/values/json/is-object';
import type { Fault } from '../../../platform/errors/fault';
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
import { hasMoreCharacters } from '../../../platform/values/text/character-count';
import { PATH_NAME } from '../../../platform/values/text/path-name';
import { isStorable } from '../../../platform/values/text/storable-text';

export const PROPERTY_TYPES = ['string', 'number', 'integer', 'boolean', 'timestamp', 'object', 'array'] as const;
export type PropertyType = (typeof PROPERTY_TYPES)[number];

/** Only formats that take time in proportion to the text; a spec holds each one to it. */
export const PROPERTY_FORMATS = ['date', 'date-time', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'] as const;
export type PropertyFormat = (typeof PROPERTY_FORMATS)[number];

export interface PropertyDefinition {
  readonly type: PropertyType;
  readonly required?: boolean;
  /** Only of string, number and integer; the values are of that type and differ. */
  readonly enum?: readonly (string | number)[];
  /** Only of string. */
  readonly format?: PropertyFormat;
  readonly description?: string;
  readonly segmentable?: boolean;
  /** Views mask the value (contract section 6). */
  readonly pii?: boolean;
}

/** What the events of one type must look like (contract section 4); a version of it is never changed. */
export interface EventTypeDefinition {
  readonly eventType: string;
  readonly description?: string;
  /** `__proto__` and `constructor` are names like any other: made without a prototype, read through own entries only. */
  readonly properties: Readonly<Record<string, PropertyDefinition>>;
  readonly additionalProperties: 'reject' | 'allow';
}

/** An event may have at most 300 keys (contract section 3), so no more can ever be of use. */
export const DEFINED_PROPERTIES_MAX = 300;
const PROPERTY_NAME_CHARACTERS_MAX = 128;
const DESCRIPTION_CHARACTERS_MAX = 1_000;
/** More values than this are master data, and a string property fits them better. */
const ENUM_VALUES_MAX = 100;
const ENUM_VALUE_CHARACTERS_MAX = 256;
/** So many faults tell the client enough; a longer answer would only help an attacker fill the line. */
export const DEFINITION_FAULTS_MAX = 100;

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

const DEFINITION_FIELDS: ReadonlySet<string> = new Set([
  'eventType',
  'description',
  'properties',
  'additionalProperties',
]);
const PROPERTY_FIELDS: ReadonlySet<string> = new Set([
  ...['type', 'required', 'enum', 'format', 'description', 'segmentable', 'pii'],
]);
const ADDITIONAL_PROPERTIES = ['reject', 'allow'] as const;

/**
 * Reads a definition as a client posts it (contract section 4), without what steers the call, such as `force`. Null in
 * an optional field means absent; `additionalProperties` defaults to `reject`. Faults: every one found, up to 100.
 */
export function checkDefinition(
  input: unknown,
): { readonly definition: EventTypeDefinition } | { readonly faults: readonly Fault[] } {
  if (!isObject(input)) return { faults: [typeFault('', 'an object')] };
  const faults = new FaultList(DEFINITION_FAULTS_MAX);
  addUnknownFields(input, DEFINITION_FIELDS, { path: '', whole: 'an event type' }, faults);
  const eventType = checkEventType(input['eventType'], faults);
  const description = checkDescription(input['description'], 'description', faults);
  const properties = checkProperties(input['properties'], faults);
  const additional = input['additionalProperties'] ?? 'reject';
  const additionalProperties =
    checkOneOf(additional, ADDITIONAL_PROPERTIES, 'additionalProperties', faults) ?? 'reject';
  if (!faults.isEmpty) return { faults: faults.all() };
  return {
    definition: { eventType, ...(description === undefined ? {} : { description }), properties, additionalProperties },
  };
}

function checkEventType(value: unknown, faults: FaultList): string {
  if (isAbsent(value)) faults.push(requiredFault('eventType'));
  else if (typeof value !== 'string') faults.push(typeFault('eventType', 'a string'));
  else if (PATH_NAME.test(value)) return value;
  else {
    const form = 'must be 1 to 128 letters, digits, dots, hyphens and underscores, beginning with a letter or digit';
    faults.push(formatFault('eventType', form));
  }
  return '';
}

function checkProperties(value: unknown, faults: FaultList): Record<string, PropertyDefinition> {
  const properties = Object.create(null) as Record<string, PropertyDefinition>;
  if (isAbsent(value)) faults.push(requiredFault('properties'));
  else if (!isObject(value)) faults.push(typeFault('properties', 'an object'));
  else {
    const entries = Object.entries(value);
    if (entries.length > DEFINED_PROPERTIES_MAX) faults.push(tooManyKeysFault('properties', DEFINED_PROPERTIES_MAX));
    for (const [name, definition] of entries) {
      const path = fieldPath('properties', name);
      checkPropertyName(name, path, faults);
      const property = checkProperty(definition, path, faults);
      if (property !== undefined) properties[name] = property;
    }
  }
  return properties;
}

function checkPropertyName(name: string, path: string, faults: FaultList): void {
  if (name.trim() === '') faults.push(emptyFault(path));
  else if (UNPRINTABLE.test(name)) faults.push(formatFault(path, 'is a name with characters that cannot be printed'));
  else if (hasMoreCharacters(name, PROPERTY_NAME_CHARACTERS_MAX))
    faults.push(tooLongFault(path, PROPERTY_NAME_CHARACTERS_MAX));
}

function checkProperty(value: unknown, path: string, faults: FaultList): PropertyDefinition | undefined {
  if (!isObject(value)) {
    faults.push(typeFault(path, 'an object'));
    return undefined;
  }
  addUnknownFields(value, PROPERTY_FIELDS, { path, whole: 'a property definition' }, faults);
  if (isAbsent(value['type'])) faults.push(requiredFault(`${path}.type`));
  const type = isAbsent(value['type']) ? undefined : checkOneOf(value['type'], PROPERTY_TYPES, `${path}.type`, faults);
  const parts = {
    required: checkFlag(value['required'], `${path}.required`, faults),
    enum: checkEnum(value['enum'], type, `${path}.enum`, faults),
    format: checkFormat(value['format'], type, `${path}.format`, faults),
    description: checkDescription(value['description'], `${path}.description`, faults),
    segmentable: checkFlag(value['segmentable'], `${path}.segmentable`, faults),
    pii: checkFlag(value['pii'], `${path}.pii`, faults),
  };
  return type === undefined ? undefined : { type, ...withoutUndefined(parts) };
}

function checkFormat(
  value: unknown,
  type: PropertyType | undefined,
  path: string,
  faults: FaultList,
): PropertyFormat | undefined {
  if (isAbsent(value)) return undefined;
  if (type !== undefined && type !== 'string') faults.push(exclusion(path, 'type string'));
  return checkOneOf(value, PROPERTY_FORMATS, path, faults);
}

function checkEnum(
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
  if (value.length > ENUM_VALUES_MAX) faults.push(tooManyItemsFault(path, ENUM_VALUES_MAX));
  const fits = type === undefined ? undefined : ENUM_TYPES[type];
  if (type !== undefined && fits === undefined) faults.push(exclusion(path, 'type string, number or integer'));
  const seen = new Set<string | number>();
  value.forEach((entry: unknown, index) => {
    const entryPath = itemPath(path, index);
    if (fits !== undefined && !fits.accepts(entry)) faults.push(typeFault(entryPath, fits.words));
    else if (typeof entry === 'string') checkText(entry, entryPath, ENUM_VALUE_CHARACTERS_MAX, faults);
    else if (isInexact(entry)) faults.push(inexactFault(entryPath));
    // Two that no double keeps may differ.
    if ((typeof entry !== 'string' && typeof entry !== 'number') || isInexact(entry)) return;
    if (seen.has(entry)) {
      faults.push({ path: entryPath, code: 'duplicate', message: `${entryPath} is in the list already.` });
    }
    seen.add(entry);
  });
  return [...seen];
}

const ENUM_TYPES: Readonly<Partial<Record<PropertyType, { accepts: (entry: unknown) => boolean; words: string }>>> = {
  string: { accepts: (entry) => typeof entry === 'string', words: 'a string' },
  number: { accepts: (entry) => typeof entry === 'number', words: 'a number' },
  // What no double keeps may be an integer; it is refused as inexact, not for its type.
  integer: { accepts: (entry) => Number.isInteger(entry) || isInexact(entry), words: 'an integer' },
};

function isInexact(entry: unknown): boolean {
  return typeof entry === 'number' && !isExactNumber(entry);
}

function checkDescription(value: unknown, path: string, faults: FaultList): string | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'string') {
    checkText(value, path, DESCRIPTION_CHARACTERS_MAX, faults);
    return value;
  }
  faults.push(typeFault(path, 'a string'));
  return undefined;
}

function checkText(text: string, path: string, charactersMax: number, faults: FaultList): void {
  if (hasMoreCharacters(text, charactersMax)) faults.push(tooLongFault(path, charactersMax));
  if (!isStorable(text)) faults.push(invalidCharactersFault(path));
}

function checkFlag(value: unknown, path: string, faults: FaultList): boolean | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'boolean') return value;
  faults.push(typeFault(path, 'true or false'));
  return undefined;
}

function checkOneOf<T extends string>(
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

function exclusion(path: string, companion: string): Fault {
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
