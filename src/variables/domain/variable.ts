/** The branches of the state tree (contract section 8). */
export const VARIABLE_SCOPES = ['user', 'campaign', 'app'] as const;
export type VariableScope = (typeof VARIABLE_SCOPES)[number];

export const VARIABLE_TYPES = ['number', 'string', 'boolean'] as const;
export type VariableType = (typeof VARIABLE_TYPES)[number];

/** A value that a variable can hold. */
export type VariableValue = number | string | boolean;

/** What the runtime knows of a declared variable. */
export interface Declaration {
  readonly scope: VariableScope;
  readonly name: string;
  readonly type: VariableType;
  /** Shown while no value was set; never stored as one. */
  readonly default?: VariableValue;
}
