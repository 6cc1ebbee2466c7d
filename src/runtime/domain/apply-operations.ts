import type { Fault } from '../../platform/errors/fault';
import { itemPath } from '../../platform/errors/fault-words';
import type { VariableScope, VariableValue } from '../../variables/domain/variable';
import { addDecimal, subtractDecimal } from './decimal';
import type { MutationEntry } from './mutation-result';
import type { ResolvedOperation } from './resolve-paths';
import { shownValue, type StateValues } from './state-tree';

/** A value to be stored, also where it equals what was stored or shown before. */
export interface ChangedValue {
  readonly scope: VariableScope;
  readonly name: string;
  readonly value: VariableValue;
}

export interface AppliedOperations {
  /** One entry for each operation, in their order. */
  readonly mutations: readonly MutationEntry[];
  /** One entry for each variable that was written. */
  readonly changed: readonly ChangedValue[];
}

/**
 * Applies operations whose types were checked (`checkTypes`), in order, wholly or not at all (contract section 8); `values`
 * stay as they are. Faults have code `range` and name each operation that leads beyond ±2^53.
 */
export function applyOperations(
  operations: readonly ResolvedOperation[],
  values: StateValues,
): AppliedOperations | { readonly faults: readonly Fault[] } {
  const written = new Map<string, ChangedValue>();
  /** Paths whose value nobody knows after a fault: what follows on them has no faults of its own. */
  const lost = new Set<string>();
  const mutations: MutationEntry[] = [];
  const faults: Fault[] = [];
  for (const [index, operation] of operations.entries()) {
    const { path, declaration } = operation;
    const { scope, name } = declaration;
    if (lost.has(path) && operation.op !== 'set') continue;
    const previous = shownValue(declaration, written.get(path)?.value ?? values[scope].get(name));
    const current = operate(operation, previous);
    if (current === undefined) {
      faults.push(overflowFault(index));
      lost.add(path);
      continue;
    }
    lost.delete(path);
    written.set(path, { scope, name, value: current });
    mutations.push({ path, previous, current });
  }
  return faults.length > 0 ? { faults } : { mutations, changed: [...written.values()] };
}

/** Undefined: beyond what a variable can hold. */
function operate(operation: ResolvedOperation, previous: VariableValue | null): VariableValue | undefined {
  const { op, value, path } = operation;
  if (op === 'set') return value;
  const base = previous ?? 0;
  if (typeof base !== 'number') throw new Error(`${op} on ${path}, which is no number, was not refused.`);
  return op === 'inc' ? addDecimal(base, value) : subtractDecimal(base, value);
}

function overflowFault(index: number): Fault {
  const path = itemPath('ops', index);
  const message = `${path} leads to a number beyond ±2^53, which cannot be kept exactly; change it by less, or set it.`;
  return { path, code: 'range', message };
}
