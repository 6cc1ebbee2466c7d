import { isAbsent, isObject } from '../../platform/values/json/json-values';
import type { Fault } from '../../platform/errors/fault';
import { isTimeZone, type Period } from './period';
import { isVariableValue, storageFaults, VALUE_TYPES, valueFaults } from './value-type';
import {
  RESERVED_NAMES,
  VARIABLE_TYPES,
  type ValueRules,
  type VariableScope,
  type VariableType,
  type VariableValue,
} from './variable';

/** A full declaration: what is absent is removed, but the type. */
export interface VariableDefinition extends ValueRules {
  readonly scope: VariableScope;
  readonly name: string;
  readonly type: VariableType;
  readonly default?: VariableValue;
  readonly description?: string;
}

/** A stored declaration, in force or archived. */
export interface StoredDefinition {
  readonly type: VariableType;
  readonly defaultValue: VariableValue | null;
  readonly description: string | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly period: Period | null;
  readonly archivedAt: Date | null;
}

/**
 * What a definition changes. `add` brings a declaration into force, for the first time or from the archive, and counts
 * towards the limit of its scope. `conflict` is refused: values of another type may be stored.
 */
export type DefinitionEffect = 'add' | 'change' | 'none' | 'conflict';

/**
 * Every fault of a definition: `shapeFaults`, found by the schema of the body, and those that a schema cannot express.
 * A field with a fault of the second kind loses its faults of shape, so that no field is named twice.
 */
export function definitionFaults(
  input: Readonly<Record<string, unknown>>,
  shapeFaults: readonly Fault[],
): readonly Fault[] {
  const faults = [
    ...nameFaults(input['name']),
    ...defaultFaults(input['default'], input['type']),
    ...limitFaults(input),
    ...timezoneFaults(input['period']),
  ];
  return [...shapeFaults.filter(({ path }) => !faults.some((fault) => fault.path === path)), ...faults];
}

/** Decides how a definition changes the declaration that is stored under its scope and name. */
export function effectOf(stored: StoredDefinition | null, definition: VariableDefinition): DefinitionEffect {
  if (stored === null) return 'add';
  if (stored.type !== definition.type) return 'conflict';
  if (stored.archivedAt !== null) return 'add';
  const isSame =
    stored.defaultValue === (definition.default ?? null) &&
    stored.description === (definition.description ?? null) &&
    hasSameRules(stored, definition);
  return isSame ? 'none' : 'change';
}

type StoredRules = Pick<StoredDefinition, 'min' | 'max' | 'period'>;

/** Whether the values must keep to the same limits and have the same period. */
function hasSameRules(stored: StoredRules, rules: ValueRules): boolean {
  const isSameLimits = stored.min === (rules.min ?? null) && stored.max === (rules.max ?? null);
  return isSameLimits && isSamePeriod(stored.period, rules.period ?? null);
}

/**
 * Whether stored values may be outside of the limits of a definition: of limits that are narrower, or of a period that
 * shows other values than before. `stored`: the declaration so far; null: there may be values of other campaigns.
 */
export function mayLeaveValuesOutside(
  stored: Pick<StoredDefinition, 'min' | 'max' | 'period'> | null,
  { min = -Infinity, max = Infinity, period }: ValueRules,
): boolean {
  if (min === -Infinity && max === Infinity) return false;
  if (stored === null || !isSamePeriod(stored.period, period ?? null)) return true;
  return min > (stored.min ?? -Infinity) || max < (stored.max ?? Infinity);
}

function isSamePeriod(a: Period | null, b: Period | null): boolean {
  return a === b || (a?.every === b?.every && a?.timezone === b?.timezone);
}

function nameFaults(name: unknown): Fault[] {
  if (typeof name !== 'string' || !RESERVED_NAMES.has(name)) return [];
  const message = 'name is reserved for the service; choose another one.';
  return [{ path: 'name', code: 'reserved_name', message }];
}

/** With an unknown type, only the limits that hold for every type are checked. */
function defaultFaults(value: unknown, type: unknown): Fault[] {
  if (isAbsent(value)) return [];
  const known = VARIABLE_TYPES.find((each) => each === type);
  if (known !== undefined) return valueFaults(value, known, 'default');
  return isVariableValue(value) ? storageFaults(value, 'default') : [];
}

type Limits = Readonly<Record<'min' | 'max' | 'default', number | undefined>>;

function limitFaults(input: Readonly<Record<string, unknown>>): Fault[] {
  const sent = (['min', 'max'] as const).filter((field) => !isAbsent(input[field]));
  const type = VARIABLE_TYPES.find((each) => each === input['type']);
  if (type !== undefined && !VALUE_TYPES[type].isNumeric) return sent.map((field) => notNumericFault(field, type));
  const faults = sent.flatMap((field) => valueFaults(input[field], 'number', field));
  return faults.length > 0 ? faults : orderFaults(limitsIn(input));
}

function notNumericFault(path: 'min' | 'max', type: VariableType): Fault {
  return { path, code: 'type', message: `${path} limits numbers, but the variable is a ${type}; remove it.` };
}

function limitsIn({ min, max, default: fallback }: Readonly<Record<string, unknown>>): Limits {
  const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
  return { min: numberOf(min), max: numberOf(max), default: numberOf(fallback) };
}

/** Every value must be possible: `min` at most `max`, and the default between them. */
function orderFaults({ min = -Infinity, max = Infinity, default: fallback }: Limits): Fault[] {
  if (min > max) return [{ path: 'min', code: 'range', message: 'min is greater than max; exchange them.' }];
  if (fallback === undefined || (fallback >= min && fallback <= max)) return [];
  const message = 'default is outside of min and max; choose one between them.';
  return [{ path: 'default', code: 'range', message }];
}

function timezoneFaults(period: unknown): Fault[] {
  const timezone = isObject(period) ? period['timezone'] : undefined;
  if (typeof timezone !== 'string' || isTimeZone(timezone)) return [];
  const message = 'period.timezone is no time zone that the service knows; write it as in Europe/Berlin.';
  return [{ path: 'period.timezone', code: 'format', message }];
}
