import type { Fault } from '../../platform/errors/fault';
import { itemPath } from '../../platform/errors/fault-words';
import { type Period, periodAt } from '../../variables/domain/period';
import type { Declaration, VariableScope, VariableValue } from '../../variables/domain/variable';
import { addDecimal, subtractDecimal } from './decimal';
import { takesNumber } from './operation';
import type { MutationEntry } from './mutation-work';
import type { ResolvedOperation } from './check-operations';
import { PeriodValue, shownValue, type StateValues, type StoredValue } from './state-tree';

/** A value to store, also when it equals the stored one or the default. */
export interface ChangedValue {
  readonly scope: VariableScope;
  readonly name: string;
  readonly value: StoredValue;
}

export interface AppliedOperations {
  /** One entry for each operation, in their order. */
  readonly mutations: readonly MutationEntry[];
  /** The beginning of the period that each of them belongs to, in epoch milliseconds; null for a variable without periods. */
  readonly periodStarts: readonly (number | null)[];
  /** One entry for each variable that was written. */
  readonly changed: readonly ChangedValue[];
  /** Whether an operation moved a value to its limit instead of beyond it. */
  readonly isClamped: boolean;
}

/** Why operations are not applied; `limit_reached` only if no operation is invalid. */
export interface RefusedOperations {
  readonly code: 'validation_failed' | 'limit_reached';
  /** The path of the first operation that would leave the limits. */
  readonly path?: string;
  readonly faults: readonly Fault[];
}

/**
 * Applies operations whose types were checked (`checkTypes`), in order, all or none (contract sections 8 and 13). Does
 * not change `values`. `at`: the moment of the changes, in epoch milliseconds, which decides their period, unless the value
 * belongs to a later one.
 *
 * Refused with faults of code `range` for each operation whose result is beyond ±2^53, else with faults of code
 * `limit_reached` for each operation after which the value would be outside of its limits, also if a later one would
 * bring it back. An operation that says `onLimit: clamp` moves the value to the limit instead.
 */
export function applyOperations(
  operations: readonly ResolvedOperation[],
  values: StateValues,
  at: number,
): AppliedOperations | { readonly refused: RefusedOperations } {
  const written = new Map<string, ChangedValue>();
  /** Paths whose value is unknown after a fault: later operations on them report no faults of their own. */
  const unknown = new Set<string>();
  const mutations: MutationEntry[] = [];
  const periodStarts: (number | null)[] = [];
  const faults: Fault[] = [];
  const outside: { readonly path: string; readonly fault: Fault }[] = [];
  let isClamped = false;
  for (const [index, operation] of operations.entries()) {
    const { path, declaration } = operation;
    const { scope, name, period } = declaration;
    if (unknown.has(path) && takesNumber(operation.op)) continue;
    const before = written.get(path)?.value ?? values[scope].get(name);
    const previous = shownValue(declaration, before, at);
    const result = operate(operation, previous);
    const current = withinLimits(declaration, result);
    if (!isKeepable(current)) faults.push(overflowFault(index));
    else if (current !== result && operation.onLimit === undefined) outside.push({ path, fault: limitFault(index) });
    else {
      isClamped ||= current !== result;
      unknown.delete(path);
      const start = period === undefined ? null : startOfChange(period, before, at);
      written.set(path, { scope, name, value: start === null ? current : new PeriodValue(current, start) });
      mutations.push({ path, previous, current });
      periodStarts.push(start);
      continue;
    }
    unknown.add(path);
  }
  if (faults.length > 0) return { refused: { code: 'validation_failed', faults } };
  const [first] = outside;
  if (first !== undefined) {
    return { refused: { code: 'limit_reached', path: first.path, faults: outside.map(({ fault }) => fault) } };
  }
  return { mutations, periodStarts, changed: [...written.values()], isClamped };
}

/**
 * The beginning of the current period; of a later one if the value was stored there by a clock that was set back since, so that
 * nothing is granted twice in that one.
 */
function startOfChange(period: Period, before: StoredValue | undefined, at: number): number {
  const moment = before instanceof PeriodValue ? Math.max(before.periodStart, at) : at;
  return periodAt(period, moment).start;
}

/** Infinite: the result is beyond ±2^53. */
function operate(operation: ResolvedOperation, previous: VariableValue | null): VariableValue {
  switch (operation.op) {
    case 'set':
      return operation.value;
    case 'inc':
      return addDecimal(numberBefore(operation, previous), operation.value) ?? Infinity * operation.value;
    case 'dec':
      return subtractDecimal(numberBefore(operation, previous), operation.value) ?? -Infinity * operation.value;
  }
}

/** The value itself, or the limit that it would pass. */
function withinLimits({ min, max }: Declaration, value: VariableValue): VariableValue {
  if (typeof value !== 'number') return value;
  if (min !== undefined && value < min) return min;
  return max !== undefined && value > max ? max : value;
}

function isKeepable(value: VariableValue): boolean {
  return typeof value !== 'number' || Number.isFinite(value);
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

function limitFault(index: number): Fault {
  const path = itemPath('ops', index);
  const message = `${path} leads to a value outside of the variable's limits; change it by less.`;
  return { path, code: 'limit_reached', message };
}
