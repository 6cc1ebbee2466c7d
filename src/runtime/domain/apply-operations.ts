import type { Fault } from '../../platform/errors/fault';
import { itemPath } from '../../platform/errors/fault-words';
import type { VariableScope, VariableValue } from '../../variables/domain/variable';
import { addDecimal, subtractDecimal } from './decimal';
import { takesNumber } from './operation';
import type { MutationEntry } from './mutation-work';
import type { ResolvedOperation } from './check-operations';
import { shownValue, type StateValues } from './state-tree';

/** A value to store, also when it equals the stored one or the default. */
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
 * Applies operations whose types were checked (`checkTypes`), in order, all or none (contract section 8). Does not
 * change `values`. Faults have code `range` and name each operation whose result is beyond ±2^53.
 */
export function applyOperations(
  operations: readonly ResolvedOperation[],
  values: StateValues,
): AppliedOperations | { readonly faults: readonly Fault[] } {
  const written = new Map<string, ChangedValue>();
  /** Paths whose value is unknown after a fault: later operations on them report no faults of their own. */
  const unknown = new Set<string>();
  const mutations: MutationEntry[] = [];
  const faults: Fault[] = [];
  for (const [index, operation] of operations.entries()) {
    const { path, declaration } = operation;
    const { scope, name } = declaration;
    if (unknown.has(path) && takesNumber(operation.op)) continue;
    const previous = shownValue(declaration, written.get(path)?.value ?? values[scope].get(name));
    const current = operate(operation, previous);
    if (current === undefined) {
      faults.push(overflowFault(index));
      unknown.add(path);
      continue;
    }
    unknown.delete(path);
    written.set(path, { scope, name, value: current });
    mutations.push({ path, previous, current });
  }
  return faults.length > 0 ? { faults } : { mutations, changed: [...written.values()] };
}

/** Undefined: the result is beyond ±2^53. */
function operate(operation: ResolvedOperation, previous: VariableValue | null): VariableValue | undefined {
  switch (operation.op) {
    case 'set':
      return operation.value;
    case 'inc':
      return addDecimal(numberBefore(operation, previous), operation.value);
    case 'dec':
      return subtractDecimal(numberBefore(operation, previous), operation.value);
  }
}

/** An absent number counts as 0. */
function numberBefore({ op, path }: ResolvedOperation, previous: VariableValue | null): number {
  const number = previous ?? 0;
  if (typeof number !== 'number') throw new Error(`${op} on ${path}, which is no number, was not refused.`);
  return number;
}

function overflowFault(index: number): Fault {
  const path = itemPath('ops', index);
  const message = `${path} leads to a number beyond ±2^53, which cannot be kept exactly; change it by less, or set it.`;
  return { path, code: 'range', message };
}
