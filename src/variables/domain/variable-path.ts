import { VARIABLE_SCOPES, type VariableScope } from './variable';

/** Contract section 8. */
export const VARIABLE_NAME = /^[A-Za-z][A-Za-z0-9_]{0,99}$/;

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
