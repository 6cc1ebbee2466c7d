import { isOfType } from '../../variables/domain/value-type';
import type { Declaration, VariableScope, VariableValue } from '../../variables/domain/variable';

/** What is stored for a participant of a campaign: the values of scope `user`, and beside them what is the system's. */
export interface ParticipantDocument {
  readonly values: Readonly<Record<string, VariableValue>>;
  readonly system: SystemFields;
}

/** Kept in the tree, neither readable nor writable for participants (contract section 8). */
export interface SystemFields {
  /** The `sid` of the participant's token. */
  readonly sessionId: string | null;
}

/** Stored values by name; those of undeclared and archived variables may be among them. */
export type StoredValues = ReadonlyMap<string, VariableValue>;

/** What is stored for the owners that a request is about. */
export type StateValues = Readonly<Record<VariableScope, StoredValues>>;

/** The values of one scope as a read shows them; null: neither a value nor a default. It has no prototype. */
export type StateBranch = Readonly<Record<string, VariableValue | null>>;

/** The answer of a read: the three branches are always there. */
export type StateTree = Readonly<Record<VariableScope, StateBranch>>;

/** The stored values of scope `user`, to look names up in. */
export function valuesOf(document: ParticipantDocument): StoredValues {
  return new Map(Object.entries(document.values));
}

/** The variables that a campaign declares, without archived ones. */
export interface DeclaredVariables {
  of(scope: VariableScope): Iterable<Declaration>;
}

/** `state` of a read (contract section 8): every declared variable and nothing else, in the order of the declarations. */
export function stateTree(declared: DeclaredVariables, values: StateValues): StateTree {
  const branch = (scope: VariableScope): StateBranch => readBranch(declared, scope, values[scope]);
  return { user: branch('user'), campaign: branch('campaign'), app: branch('app') };
}

/** One branch of it. */
export function readBranch(declared: DeclaredVariables, scope: VariableScope, values: StoredValues): StateBranch {
  // Without a prototype, a name such as __proto__ is one like any other.
  const branch = Object.create(null) as Record<string, VariableValue | null>;
  for (const declaration of declared.of(scope)) {
    branch[declaration.name] = shownValue(declaration, values.get(declaration.name));
  }
  return branch;
}

/**
 * What a read shows of a variable: its value, else its default, else null. Throws when the value is of another type than
 * the declaration's, which no write lets happen.
 */
export function shownValue(declaration: Declaration, stored: VariableValue | undefined): VariableValue | null {
  if (stored === undefined) return declaration.default ?? null;
  if (isOfType(stored, declaration.type)) return stored;
  const { scope, name, type } = declaration;
  throw new Error(`The stored value of state.${scope}.${name} is a ${typeof stored}, but it is declared as ${type}.`);
}
