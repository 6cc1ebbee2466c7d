import { isAbsent } from '../../platform/values/json/is-absent';
import type { Fault } from '../../platform/errors/fault';
import { isVariableValue, storageFaults, valueFaults } from './value-type';
import { RESERVED_NAMES, VARIABLE_TYPES, type VariableScope, type VariableType, type VariableValue } from './variable';

/** A full declaration: an absent default or description is removed. */
export interface VariableDefinition {
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
  const faults = [...nameFaults(input['name']), ...defaultFaults(input['default'], input['type'])];
  return [...shapeFaults.filter(({ path }) => !faults.some((fault) => fault.path === path)), ...faults];
}

/** Decides how a definition changes the declaration that is stored under its scope and name. */
export function effectOf(stored: StoredDefinition | null, definition: VariableDefinition): DefinitionEffect {
  if (stored === null) return 'add';
  if (stored.type !== definition.type) return 'conflict';
  if (stored.archivedAt !== null) return 'add';
  const isSame =
    stored.defaultValue === (definition.default ?? null) && stored.description === (definition.description ?? null);
  return isSame ? 'none' : 'change';
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
