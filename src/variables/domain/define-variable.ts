import { isAbsent } from '../../platform/values/json/is-absent';
import { RESERVED_NAMES } from './reserved-names';
import type { Fault } from '../../platform/errors/fault';
import { valueFaults } from './value-type';
import { VARIABLE_TYPES, type VariableScope, type VariableType, type VariableValue } from './variable';

/** A full declaration: what it does not say is not set. */
export interface VariableDefinition {
  readonly scope: VariableScope;
  readonly name: string;
  readonly type: VariableType;
  readonly default?: VariableValue;
  readonly description?: string;
}

/** What is stored of a declaration, in force or archived. */
export interface StoredDefinition {
  readonly type: VariableType;
  readonly defaultValue: VariableValue | null;
  readonly description: string | null;
  readonly archivedAt: Date | null;
}

/**
 * What a definition does: `add` brings a declaration into force, for the first time or back from the archive, and needs room
 * in its scope; `conflict` is refused, since values of another type may be stored.
 */
export type DefinitionEffect = 'add' | 'change' | 'none' | 'conflict';

/** Adds to what the shape of a definition's body lacks what its fields mean; every fault of both, one check for each field. */
export function definitionFaults(
  input: Readonly<Record<string, unknown>>,
  ofShape: readonly Fault[],
): readonly Fault[] {
  const ofMeaning = [...nameFaults(input['name']), ...defaultFaults(input['default'], input['type'])];
  // A reserved name may also be no name, and what is no number of any kind is no default of this type: one of the two tells all.
  return [...ofShape.filter(({ path }) => !ofMeaning.some((fault) => fault.path === path)), ...ofMeaning];
}

/** Decides what a definition does to what is stored under its scope and name. */
export function effectOf(stored: StoredDefinition | null, wanted: VariableDefinition): DefinitionEffect {
  if (stored === null) return 'add';
  if (stored.type !== wanted.type) return 'conflict';
  if (stored.archivedAt !== null) return 'add';
  const isSame =
    stored.defaultValue === (wanted.default ?? null) && stored.description === (wanted.description ?? null);
  return isSame ? 'none' : 'change';
}

function nameFaults(name: unknown): Fault[] {
  if (typeof name !== 'string' || !RESERVED_NAMES.has(name)) return [];
  const message = 'name is a name that the service keeps for itself; choose another one.';
  return [{ path: 'name', code: 'reserved_name', message }];
}

/** Where the type is not known either, a default is held to the rules of the type that it has. */
function defaultFaults(value: unknown, type: unknown): Fault[] {
  if (isAbsent(value)) return [];
  const judgedAs = VARIABLE_TYPES.find((each) => each === type) ?? VARIABLE_TYPES.find((each) => each === typeof value);
  return judgedAs === undefined ? [] : valueFaults(value, judgedAs, 'default');
}
