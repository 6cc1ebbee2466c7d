import { fieldPath, itemPath } from '../../platform/errors/fault-words';
import { isObject } from '../../platform/values/json/json-values';
import type { Condition } from './condition';
import { CONDITION_OPERATORS } from './condition-operators';

/** Operators that take paths as values, which rules may compute. */
const LOOK_UPS: ReadonlySet<string> = new Set(['missing', 'missing_some']);

/** A read of data in a condition. */
export interface ConditionRead {
  /** The field in the body, such as `when.and[1].var`. */
  readonly path: string;
  /** The path that is read; empty: all data; undefined: the path is computed, and could be any. */
  readonly reads: string | undefined;
  /** Whether it is inside an operator that iterates over a list; there paths start at the entry. */
  readonly inEntry: boolean;
}

/** All reads of a checked condition, in the order of its text. */
export function readsOf(when: Condition): readonly ConditionRead[] {
  const reads: ConditionRead[] = [];
  collect(when, 'when', false, reads);
  return reads;
}

function collect(value: unknown, path: string, inEntry: boolean, reads: ConditionRead[]): void {
  if (Array.isArray(value)) value.forEach((entry, index) => collect(entry, itemPath(path, index), inEntry, reads));
  if (!isObject(value)) return;
  for (const [name, args] of Object.entries(value)) {
    const at = fieldPath(path, name);
    if (name === 'var') reads.push(readOf(Array.isArray(args) ? args[0] : args, at, inEntry));
    else if (LOOK_UPS.has(name)) collectLookUps(args, at, inEntry, reads);
    else if (CONDITION_OPERATORS.get(name)?.iterates === true) collectIteration(args, at, inEntry, reads);
    else collect(args, at, inEntry, reads);
  }
}

function collectIteration(args: unknown, path: string, inEntry: boolean, reads: ConditionRead[]): void {
  if (!Array.isArray(args)) return;
  args.forEach((entry, index) => collect(entry, itemPath(path, index), inEntry || index === 1, reads));
}

/** A computed path could be any path. */
function collectLookUps(args: unknown, path: string, inEntry: boolean, reads: ConditionRead[]): void {
  if (Array.isArray(args)) {
    args.forEach((entry, index) => collectLookUps(entry, itemPath(path, index), inEntry, reads));
  } else if (isObject(args)) reads.push({ path, reads: undefined, inEntry });
  else if (typeof args === 'string') reads.push(readOf(args, path, inEntry));
}

function readOf(read: unknown, path: string, inEntry: boolean): ConditionRead {
  return { path, reads: typeof read === 'string' || typeof read === 'number' ? String(read) : '', inEntry };
}
