import { isOfType } from '../../variables/domain/value-type';
import type { Declaration, VariableScope, VariableValue } from '../../variables/domain/variable';

/** The stored document of a participant in a campaign: the values of scope `user`, and the system fields. */
export interface ParticipantDocument {
  readonly values: Readonly<Record<string, VariableValue>>;
  readonly system: SystemFields;
}

/** Stored in the tree; participants can neither read nor write them (contract section 8). */
export interface SystemFields {
  /** The `sid` of the participant's token. */
  readonly sessionId: string | null;
}

/** Stored values by name; those of undeclared and archived variables may be among them. */
export type StoredValues = ReadonlyMap<string, VariableValue>;

/** The stored values of the owners that a request is about. */
export type StateValues = Readonly<Record<VariableScope, StoredValues>>;

/** The values of one scope as a read shows them; null: neither a value nor a default. Without a prototype. */
export type StateBranch = Readonly<Record<string, VariableValue | null>>;

/** The answer of a read: the three branches are always there. */
export type StateTree = Readonly<Record<VariableScope, StateBranch>>;

/** The stored values of scope `user` by name. */
export function valuesOf(document: ParticipantDocument): StoredValues {
  return new Map(Object.entries(document.values));
}

/** The variables that a campaign declares, without archived ones. */
export interface DeclaredVariables {
  of(scope: VariableScope): Iterable<Declaration>;
}

/** The `state` of a read (contract section 8): exactly the declared variables, in the order of the declarations. */
export function stateTree(declared: DeclaredVariables, values: StateValues): StateTree {
  const branch = (scope: VariableScope): StateBranch => readBranch(declared, scope, values[scope]);
  return { user: branch('user'), campaign: branch('campaign'), app: branch('app') };
}

/** One branch of it. */
export function readBranch(declared: DeclaredVariables, scope: VariableScope, values: StoredValues): StateBranch {
  // Without a prototype, a name such as __proto__ is an ordinary name.
  const branch = Object.create(null) as Record<string, VariableValue | null>;
  for (const declaration of declared.of(scope)) {
    branch[declaration.name] = shownValue(declaration, values.get(declaration.name));
  }
  return branch;
}

/**
 * What a read shows of a variable: its value, else its default, else null. Throws for a stored value of another type.
 */
export function shownValue(declaration: Declaration, stored: VariableValue | undefined): VariableValue | null {
  if (stored === undefined) return declaration.default ?? null;
  if (isOfType(stored, declaration.type)) return stored;
  const { scope, name, type } = declaration;
  throw new Error(`The stored value of state.${scope}.${name} is a ${typeof stored}, but it is declared as ${type}.`);
}
