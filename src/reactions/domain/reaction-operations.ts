import type { Fault } from '../../platform/errors/fault';
import { itemPath, typeFault } from '../../platform/errors/fault-words';
import { isAbsent } from '../../platform/values/json/is-absent';
import { isObject } from '../../platform/values/json/is-object';
import { checkTypes } from '../../runtime/domain/check-types';
import { OPERATION_FIELDS, parseOperations, type Operation } from '../../runtime/domain/operation';
import { resolvePaths, type DeclaredPaths } from '../../runtime/domain/resolve-paths';
import { valueFaults } from '../../variables/domain/value-type';
import type { VariableType, VariableValue } from '../../variables/domain/variable';
import type { EventRecord } from './event-record';
import type { ReactionOperation } from './reaction';
import { valueAt, valuePathFaults } from './value-path';

const REACTION_OPERATION_FIELDS: ReadonlySet<string> = new Set([...OPERATION_FIELDS, 'valueFrom']);

/** Stands for what only an event will tell. */
const SAMPLES: Readonly<Record<VariableType, VariableValue>> = { number: 0, string: '', boolean: false };

/**
 * Reads the `ops` of a reaction, any JSON value: those of a mutation (`parseOperations`, with its codes), each of which has either a
 * `value` or a `valueFrom`. Both: `conflicting_fields`.
 */
export function parseReactionOperations(
  ops: unknown,
): { readonly ops: readonly ReactionOperation[] } | { readonly faults: readonly Fault[] } {
  const parsed = parseOperations(Array.isArray(ops) ? ops.map(withSample) : ops, REACTION_OPERATION_FIELDS);
  const ofValues = Array.isArray(ops) ? ops.flatMap((entry: unknown, index) => sourceFaults(entry, index)) : [];
  if ('faults' in parsed) return { faults: [...parsed.faults, ...ofValues] };
  if (ofValues.length > 0) return { faults: ofValues };
  const entries = ops as readonly unknown[];
  return { ops: parsed.operations.map((operation, index) => withSource(operation, valueFromOf(entries[index]))) };
}

/** What of the operations the campaign's declarations do not take: paths first, as with a mutation, then types. */
export function declarationFaults(ops: readonly ReactionOperation[], declarations: DeclaredPaths): readonly Fault[] {
  const resolved = resolvePaths(
    ops.map((op) => ('value' in op ? op : { ...op, value: 0 }) as Operation),
    declarations,
  );
  if ('refusal' in resolved) return resolved.refusal.details;
  return checkTypes(
    resolved.operations.map((operation, index) => {
      const isOpen = 'valueFrom' in (ops[index] ?? {}) && operation.op === 'set';
      return isOpen ? { ...operation, value: SAMPLES[operation.declaration.type] } : operation;
    }),
  );
}

/** What the operations are for one event. Faults: every value that the event does not have, or that no variable can hold. */
export function operationsFor(
  ops: readonly ReactionOperation[],
  event: () => EventRecord,
): { readonly operations: readonly Operation[] } | { readonly faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const operations = ops.flatMap((operation, index): Operation[] => {
    if ('value' in operation) return [operation as Operation];
    const { path, op, valueFrom } = operation;
    const value = valueAt(event(), valueFrom);
    const found = foundFaults(value, op, `${itemPath('ops', index)}.valueFrom`);
    faults.push(...found);
    return found.length > 0 ? [] : [{ path, op, value } as Operation];
  });
  return faults.length > 0 ? { faults } : { operations };
}

function foundFaults(value: unknown, op: ReactionOperation['op'], path: string): readonly Fault[] {
  if (isAbsent(value)) {
    return [{ path, code: 'required', message: `${path} finds no value in the event.` }];
  }
  if (op !== 'set') return valueFaults(value, 'number', path);
  if (typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean') {
    return valueFaults(value, typeof value as VariableType, path);
  }
  return [typeFault(path, 'a number, a string, true or false')];
}

/** `null` means absent (contract section 1). */
function valueFromOf(entry: unknown): unknown {
  return isObject(entry) ? (entry['valueFrom'] ?? undefined) : undefined;
}

function withSample(entry: unknown): unknown {
  if (!isObject(entry) || !Object.hasOwn(entry, 'valueFrom')) return entry;
  const { valueFrom, ...others } = entry;
  return valueFrom === null ? others : { ...others, value: 0 };
}

function sourceFaults(entry: unknown, index: number): readonly Fault[] {
  const valueFrom = valueFromOf(entry);
  if (valueFrom === undefined || !isObject(entry)) return [];
  const path = `${itemPath('ops', index)}.valueFrom`;
  const isDouble = (entry['value'] ?? undefined) !== undefined;
  const message = `${path} and value exclude each other; send one of them.`;
  return [
    ...(isDouble ? [{ path, code: 'conflicting_fields' as const, message }] : []),
    ...valuePathFaults(valueFrom, path),
  ];
}

function withSource({ path, op, value }: Operation, valueFrom: unknown): ReactionOperation {
  return typeof valueFrom === 'string' ? { path, op, valueFrom } : { path, op, value };
}
