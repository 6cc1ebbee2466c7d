import { describeFaults } from '../../platform/errors/describe-faults';
import type { Fault } from '../../platform/errors/fault';
import { itemPath, shownName } from '../../platform/errors/fault-words';
import { VARIABLE_SCOPES, type Declaration, type VariableScope } from '../../variables/domain/variable';
import { RESERVED_NAMES } from '../../variables/domain/reserved-names';
import { parseVariablePath } from '../../variables/domain/variable-path';
import type { Operation } from './operation';

/** The variables that a campaign declares, without archived ones. */
export interface DeclaredPaths {
  get(scope: VariableScope, name: string): Declaration | undefined;
}

/** An operation on a declared variable. */
export type ResolvedOperation = Operation & { readonly declaration: Declaration };

type PathCode = 'system_field' | 'undeclared_variable';

export interface PathRefusal {
  /** That of the first offending operation. */
  readonly code: PathCode;
  readonly message: string;
  /** The first offending path, as an answer may show it. */
  readonly path: string;
  /** One fault for each offending operation, in their order. */
  readonly details: readonly Fault[];
}

/** A step of a path that could be a name, or none: neither an address nor a phone number fits in. */
const HARMLESS_STEP = /^(?:[A-Za-z_]\w*)?$/;

/** Finds the variable of every operation (contract section 8): a path to a system field or to none is refused with 400. */
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

/** A system field stands directly below `state` or under a reserved name in a branch; what is below one is part of it. */
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

/** Verbatim where its steps could be names; other text is shortened and masked, since it may be anything. */
function shownPath(path: string): string {
  return path.split('.').every((step) => HARMLESS_STEP.test(step)) ? path : shownName(path);
}
