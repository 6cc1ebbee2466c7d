import addFormats from 'ajv-formats';
import { parseTimestamp } from '../../../platform/values/timestamp';
import { timestampFault } from '../../../platform/errors/fault-words';
import { capFaults } from '../../../platform/errors/cap-faults';
import type { Fault } from '../../../platform/errors/fault';
import { fieldPath, formatFault, requiredFault, typeFault } from '../../../platform/errors/fault-words';
import { maskContacts } from '../../../platform/privacy/contact-data';
import { isObject } from '../../../platform/values/json/json-values';
import {
  CONTRACT_FAULTS_MAX,
  type EventTypeDefinition,
  type PropertyDefinition,
  type PropertyFormat,
  type PropertyType,
} from './event-type-definition';

/**
 * Returns every fault of an event's `properties`, at paths such as `properties.amount`; none if they fit the contract.
 * Properties for which `isLeftOut` is true are not checked, present or absent.
 */
export type ContractCheck = (properties: unknown, isLeftOut?: (name: string) => boolean) => readonly Fault[];

/** What a message calls a value of each type. */
const TYPE_WORDS: Readonly<Record<PropertyType, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  timestamp: 'a string with an ISO 8601 date-time',
  object: 'an object',
  array: 'a list',
};

const HAS_TYPE: Readonly<Record<PropertyType, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: Number.isFinite,
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  timestamp: (value) => typeof value === 'string',
  object: isObject,
  array: Array.isArray,
};

/** What a value breaks; one for each property: a value of the wrong type also breaks `enum` and `format`. */
type Breach = 'required' | 'unknown' | 'type' | 'format' | 'enum';

/** The rule of one declared property. */
interface PropertyRule {
  readonly property: PropertyDefinition;
  readonly isRequired: boolean;
  readonly hasType: (value: unknown) => boolean;
  readonly hasFormat?: (text: string) => boolean;
  readonly values?: ReadonlySet<unknown>;
}

interface Contract {
  readonly rules: ReadonlyMap<string, PropertyRule>;
  /** The names of the required properties. */
  readonly required: readonly string[];
  readonly takesUnknown: boolean;
}

type Breaches = readonly (readonly [name: string, breach: Breach])[];

/**
 * Prepares one version of an event type as a check (contract section 4). Both take microseconds, also for the largest
 * definition. Code made of a JSON Schema is no faster, but making it for 300 properties blocked the event loop for 100 ms.
 * Absent `properties` count as `{}`.
 *
 * Fault codes: `type`, `required`, `enum`, `format`, `missing_offset`, `unknown_property`, `too_many_faults`.
 */
export function compileContract({ properties, additionalProperties }: EventTypeDefinition): ContractCheck {
  const rules = new Map(Object.entries(properties).map(([name, property]) => [name, ruleOf(property)]));
  const required = [...rules].filter(([, { isRequired }]) => isRequired).map(([name]) => name);
  const contract: Contract = { rules, required, takesUnknown: additionalProperties === 'allow' };
  return (sent, isLeftOut) => {
    const value = sent ?? {};
    if (!isObject(value)) return [typeFault('properties', 'an object')];
    return fits(contract, value) ? [] : faultsOf(breachesOf(contract, value), value, rules, isLeftOut);
  };
}

/** Returns a check whether a text has a format, as contracts check it. */
export function compileFormat(format: PropertyFormat): (text: string) => boolean {
  if (format === 'date-time') return isTime;
  const known = addFormats.get(format);
  if (known instanceof RegExp) return (text) => known.test(text);
  const validate: unknown = typeof known === 'object' ? known.validate : known;
  if (typeof validate !== 'function') throw new Error(`The library cannot check the format ${format}`);
  return validate as (text: string) => boolean;
}

function isTime(text: string): boolean {
  return 'at' in parseTimestamp(text);
}

function ruleOf(property: PropertyDefinition): PropertyRule {
  const format = property.type === 'timestamp' ? 'date-time' : property.format;
  return {
    property,
    isRequired: property.required === true,
    hasType: HAS_TYPE[property.type],
    ...(format === undefined ? {} : { hasFormat: compileFormat(format) }),
    ...(property.enum === undefined ? {} : { values: new Set<unknown>(property.enum) }),
  };
}

function breachOf({ isRequired, hasType, hasFormat, values }: PropertyRule, value: unknown): Breach | undefined {
  // Null in an optional property means absent (contract section 1).
  if (value === null) return isRequired ? 'required' : undefined;
  if (!hasType(value)) return 'type';
  if (values !== undefined && !values.has(value)) return 'enum';
  return hasFormat === undefined || hasFormat(value as string) ? undefined : 'format';
}

/** Whether there is no breach. Nearly every event fits: this looks only at what the event has, and makes no list. */
function fits({ rules, required, takesUnknown }: Contract, value: Readonly<Record<string, unknown>>): boolean {
  for (const name of required) if (!Object.hasOwn(value, name)) return false;
  for (const name of Object.keys(value)) {
    const rule = rules.get(name);
    if (rule === undefined ? !takesUnknown : breachOf(rule, value[name]) !== undefined) return false;
  }
  return true;
}

/** What is missing, what is unknown, and then what is wrong, in the order of the definition. */
function breachesOf({ rules, required, takesUnknown }: Contract, value: Readonly<Record<string, unknown>>): Breaches {
  const breaches: [string, Breach][] = [];
  for (const name of required) if (!Object.hasOwn(value, name)) breaches.push([name, 'required']);
  if (!takesUnknown) {
    for (const name of Object.keys(value)) if (!rules.has(name)) breaches.push([name, 'unknown']);
  }
  for (const [name, rule] of rules) {
    const breach = Object.hasOwn(value, name) ? breachOf(rule, value[name]) : undefined;
    if (breach !== undefined) breaches.push([name, breach]);
  }
  return breaches;
}

function faultsOf(
  breaches: Breaches,
  value: Readonly<Record<string, unknown>>,
  rules: ReadonlyMap<string, PropertyRule>,
  isLeftOut?: (name: string) => boolean,
): readonly Fault[] {
  const faults: Fault[] = [];
  let unlisted = 0;
  for (const [name, breach] of breaches) {
    if (isLeftOut?.(name) === true) continue;
    // A hostile event has ten thousand faults. Build messages only for those that the answer lists.
    if (faults.length >= CONTRACT_FAULTS_MAX) unlisted += 1;
    else faults.push(faultOf(breach, name, value[name], rules.get(name)?.property));
  }
  return capFaults(faults, CONTRACT_FAULTS_MAX, unlisted);
}

function faultOf(breach: Breach, name: string, value: unknown, property: PropertyDefinition | undefined): Fault {
  if (property === undefined) return unknownPropertyFault(name);
  const path = fieldPath('properties', name);
  if (breach === 'required') return requiredFault(path);
  if (breach === 'enum') {
    const message = `${path} is none of the ${property.enum?.length ?? 0} values that the event type lists for it.`;
    return { path, code: 'enum', message };
  }
  if (breach === 'type') return typeFault(path, TYPE_WORDS[property.type]);
  const isOfTime = property.type === 'timestamp' || property.format === 'date-time';
  const time = isOfTime && typeof value === 'string' ? parseTimestamp(value) : undefined;
  if (time !== undefined && 'code' in time) return timestampFault(time.code, path);
  return formatFault(path, `does not have the format ${property.format ?? ''}`);
}

/** A path shows 64 characters of a name; an email address that begins there has ended by then. */
const NAME_CHARACTERS_MASKED = 512;

function unknownPropertyFault(name: string): Fault {
  // The sender chooses undeclared names, and some senders use email addresses as keys. A name may have megabytes.
  const path = fieldPath('properties', maskContacts(name.slice(0, NAME_CHARACTERS_MASKED)));
  const message = `${path} is not declared by the event type; remove it, or register a version that declares it.`;
  return { path, code: 'unknown_property', message };
}
