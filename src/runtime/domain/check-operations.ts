import { describeFaults } from '../../platform/errors/describe-faults';
import type { Fault } from '../../platform/errors/fault';
import { itemPath, shownName, typeFault } from '../../platform/errors/fault-words';
import { isOfType, VALUE_TYPES } from '../../variables/domain/value-type';
import {
  type Declaration,
  parseVariablePath,
  RESERVED_NAMES,
  VARIABLE_SCOPES,
  type VariableScope,
} from '../../variables/domain/variable';
import { takesNumber, type Operation } from './operation';

/** The variables that a campaign declares, without archived ones. */
export interface DeclaredPaths {
  get(scope: VariableScope, name: string): Declaration | undefined;
}

/** An operation on a declared variable. */
export type ResolvedOperation = Operation & { readonly declaration: Declaration };

type PathCode = 'system_field' | 'undeclared_variable';

export interface PathRefusal {
  /** The code of the first offending operation. */
  readonly code: PathCode;
  readonly message: string;
  /** The first offending path, as an answer may show it. */
  readonly path: string;
  /** One fault for each offending operation, in their order. */
  readonly details: readonly Fault[];
}

/** A step of a path that an answer may repeat: no e-mail address and no phone number matches. */
const HARMLESS_STEP = /^(?:[A-Za-z_]\w*)?$/;

/**
 * Finds the variable of every operation (contract section 8). A path to a system field, or to no variable, is a 400.
 */
export function resolvePaths(
  operations: readonly Operation[],
  declarations: DeclaredPaths,
): { readonly operations: readonly ResolvedOperation[] } | { readonly refusal: PathRefusal } {
  const resolved: ResolvedOperation[] = [];
  const details: Fault[] = [];
  let first: { readonly code: PathCode; readonly path: string } | undefined;
  for (const [index, operation] of operations.entries()) {
    const declaration = findDeclaration(operation.path, declarations);
    if (declaration !== undefined) {
      resolved.push({ ...operation, declaration });
      continue;
    }
    const code = isSystemField(operation.path) ? 'system_field' : 'undeclared_variable';
    first ??= { code, path: shownPath(operation.path) };
    details.push(pathFault(code, index));
  }
  if (first === undefined) return { operations: resolved };
  return { refusal: { ...first, message: describeFaults(details), details } };
}

function findDeclaration(path: string, declarations: DeclaredPaths): Declaration | undefined {
  const parsed = parseVariablePath(path);
  if (parsed === undefined || RESERVED_NAMES.has(parsed.name)) return undefined;
  return declarations.get(parsed.scope, parsed.name);
}

/** System fields are directly below `state`, or have a reserved name in a branch; paths below them belong to them. */
function isSystemField(path: string): boolean {
  const [root, branch, name] = path.split('.');
  if (root !== 'state' || branch === undefined || branch === '') return false;
  if (VARIABLE_SCOPES.some((scope) => scope === branch)) return name !== undefined && RESERVED_NAMES.has(name);
  return name === undefined || RESERVED_NAMES.has(branch);
}

function pathFault(code: PathCode, index: number): Fault {
  const path = `${itemPath('ops', index)}.path`;
  const words =
    code === 'system_field'
      ? 'names a field of the system, which cannot be written; remove the operation'
      : 'names no variable that the campaign declares; write it as state.{scope}.{name}, or define the variable';
  return { path, code, message: `${path} ${words}.` };
}

/** Unchanged where every step could be a name; other text may hold contact data, and is shortened and masked. */
function shownPath(path: string): string {
  return path.split('.').every((step) => HARMLESS_STEP.test(step)) ? path : shownName(path);
}

/** Checks every operation against the type of its variable (contract section 8): every fault, all with code `type`. */
export function checkTypes(operations: readonly ResolvedOperation[]): readonly Fault[] {
  return operations.flatMap((operation, index) => faultsOfType(operation, itemPath('ops', index)));
}

function faultsOfType({ op, value, declaration: { type } }: ResolvedOperation, at: string): Fault[] {
  const { words, isNumeric } = VALUE_TYPES[type];
  if (!takesNumber(op)) return isOfType(value, type) ? [] : [typeFault(`${at}.value`, words)];
  if (isNumeric) return [];
  const path = `${at}.op`;
  const message = `${path} changes a number, but the variable is declared as ${type}; use set.`;
  return [{ path, code: 'type', message }];
}
