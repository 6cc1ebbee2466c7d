import type { Fault } from '../../platform/errors/fault';
import { enumFault, itemPath, typeFault } from '../../platform/errors/fault-words';
import { isAbsent, isObject } from '../../platform/values/json/json-values';
import { checkTypes, type DeclaredPaths, resolvePaths } from '../../runtime/domain/check-operations';
import {
  LIMIT_POLICIES,
  OPERATION_SCHEMA,
  parseOperations,
  takesNumber,
  type Operation,
} from '../../runtime/domain/operation';
import {
  ANY_VALUE_WORDS,
  isVariableValue,
  storageFaults,
  VALUE_TYPES,
  valueFaults,
} from '../../variables/domain/value-type';
import type { EventRecord } from './event-record';
import type { ReactionOperation } from './reaction';
import { VALUE_PATH_CHARACTERS_MAX, valueAt, valuePathFaults } from './value-path';

/** The fields of a reaction's operation; the parser and the OpenAPI document both use them. */
export const REACTION_OPERATION_SCHEMA = {
  ...OPERATION_SCHEMA,
  valueFrom: { type: 'string', maxLength: VALUE_PATH_CHARACTERS_MAX },
  onLimit: { enum: LIMIT_POLICIES },
} as const;
const REACTION_OPERATION_FIELDS: ReadonlySet<string> = new Set(Object.keys(REACTION_OPERATION_SCHEMA));

/**
 * Reads the `ops` of a reaction, any JSON value. They are those of a mutation (`parseOperations`, with its codes), but
 * each has either a `value` or a `valueFrom`. Both: `conflicting_fields`. Each may have an `onLimit`.
 */
export function parseReactionOperations(
  ops: unknown,
): { readonly ops: readonly ReactionOperation[] } | { readonly faults: readonly Fault[] } {
  const parsed = parseOperations(Array.isArray(ops) ? ops.map(withSample) : ops, REACTION_OPERATION_FIELDS);
  const sourceFaultsFound = Array.isArray(ops)
    ? ops.flatMap((entry: unknown, index) => [...sourceFaults(entry, index), ...limitPolicyFaults(entry, index)])
    : [];
  if ('faults' in parsed) return { faults: [...parsed.faults, ...sourceFaultsFound] };
  if (sourceFaultsFound.length > 0) return { faults: sourceFaultsFound };
  const entries = ops as readonly unknown[];
  return { ops: parsed.operations.map((operation, index) => reactionOperation(operation, entries[index])) };
}

/**
 * The faults of operations against the campaign's declarations: those of paths, or else those of types, as for a
 * mutation.
 */
export function declarationFaults(ops: readonly ReactionOperation[], declarations: DeclaredPaths): readonly Fault[] {
  const resolved = resolvePaths(
    ops.map((op) => ('value' in op ? op : { ...op, value: 0 }) as Operation),
    declarations,
  );
  if ('refusal' in resolved) return resolved.refusal.details;
  return checkTypes(
    resolved.operations.map((operation, index) => {
      const isFromEvent = 'valueFrom' in (ops[index] ?? {});
      return isFromEvent && operation.op === 'set'
        ? { ...operation, value: VALUE_TYPES[operation.declaration.type].sample }
        : operation;
    }),
  );
}

/** The operations for one event. Faults: every value that the event does not have, or that no variable can hold. */
export function operationsFor(
  ops: readonly ReactionOperation[],
  event: () => EventRecord,
): { readonly operations: readonly Operation[] } | { readonly faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const operations = ops.flatMap((operation, index): Operation[] => {
    if ('value' in operation) return [operation as Operation];
    const { path, op, valueFrom, onLimit } = operation;
    const value = valueAt(event(), valueFrom);
    const found = foundFaults(value, op, `${itemPath('ops', index)}.valueFrom`);
    faults.push(...found);
    return found.length > 0 ? [] : [{ path, op, value, ...(onLimit === undefined ? {} : { onLimit }) } as Operation];
  });
  return faults.length > 0 ? { faults } : { operations };
}

function foundFaults(value: unknown, op: ReactionOperation['op'], path: string): readonly Fault[] {
  if (isAbsent(value)) {
    return [{ path, code: 'required', message: `${path} finds no value in the event.` }];
  }
  if (takesNumber(op)) return valueFaults(value, 'number', path);
  return isVariableValue(value) ? storageFaults(value, path) : [typeFault(path, ANY_VALUE_WORDS)];
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

function limitPolicyOf(entry: unknown): unknown {
  return isObject(entry) ? (entry['onLimit'] ?? undefined) : undefined;
}

function limitPolicyFaults(entry: unknown, index: number): readonly Fault[] {
  const policy = limitPolicyOf(entry);
  if (policy === undefined || LIMIT_POLICIES.some((each) => each === policy)) return [];
  const path = `${itemPath('ops', index)}.onLimit`;
  return [typeof policy === 'string' ? enumFault(path, LIMIT_POLICIES) : typeFault(path, 'a string')];
}

function reactionOperation({ path, op, value }: Operation, entry: unknown): ReactionOperation {
  const valueFrom = valueFromOf(entry);
  const onLimit = LIMIT_POLICIES.find((each) => each === limitPolicyOf(entry));
  return {
    path,
    op,
    ...(typeof valueFrom === 'string' ? { valueFrom } : { value }),
    ...(onLimit === undefined ? {} : { onLimit }),
  };
}
