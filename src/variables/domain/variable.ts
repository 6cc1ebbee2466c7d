import type { Period } from './period';

/** The branches of the state tree (contract section 8). */
export const VARIABLE_SCOPES = ['user', 'campaign', 'app'] as const;
export type VariableScope = (typeof VARIABLE_SCOPES)[number];
/** The scopes whose values belong to no single participant. */
export type SharedScope = Exclude<VariableScope, 'user'>;

/** What each type means is in `value-type.ts`, whose table does not compile without an entry for every type. */
export const VARIABLE_TYPES = ['number', 'string', 'boolean'] as const;
export type VariableType = (typeof VARIABLE_TYPES)[number];

/** A value of any type, as JSON holds it. */
export type VariableValue = number | string | boolean;

/** A variable in force, as the runtime sees it. */
export interface Declaration extends ValueRules {
  readonly scope: VariableScope;
  readonly name: string;
  readonly type: VariableType;
  /** Shown while no value is set; never stored as one. */
  readonly default?: VariableValue;
}

/** What a variable's values must keep to (contract section 13). */
export interface ValueRules {
  /** The least value of a number; it is allowed itself. Undefined: no limit. */
  readonly min?: number;
  /** The greatest value of a number; it is allowed itself. Undefined: no limit. */
  readonly max?: number;
  /** Undefined: a value stays until it is changed. */
  readonly period?: Period;
}

/** Contract section 8. */
export const VARIABLE_NAME = /^[A-Za-z][A-Za-z0-9_]{0,99}$/;

/**
 * Names of system fields, and of what objects inherit in JavaScript (contract section 8), compared letter for letter.
 * No variable can have one; in a path such a name means a system field.
 */
export const RESERVED_NAMES: ReadonlySet<string> = new Set([
  'sessionId',
  'session_id',
  'userId',
  'user_id',
  'campaignId',
  'campaign_id',
  'appId',
  'app_id',
  'version',
  'createdAt',
  'updatedAt',
  'constructor',
  'prototype',
  '__proto__',
  'toString',
  'valueOf',
  'hasOwnProperty',
]);

export interface VariablePath {
  readonly scope: VariableScope;
  readonly name: string;
}

/** Reads `state.{scope}.{name}`; undefined for any other text, such as `state.sessionId`. */
export function parseVariablePath(path: string): VariablePath | undefined {
  const [root, scope, name, ...rest] = path.split('.');
  const known = VARIABLE_SCOPES.find((each) => each === scope);
  if (root !== 'state' || known === undefined || name === undefined || rest.length > 0) return undefined;
  return VARIABLE_NAME.test(name) ? { scope: known, name } : undefined;
}
