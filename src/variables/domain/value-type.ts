import type { VariableType, VariableValue } from './variable';

/** Strings of variables (contract section 8). */
export const VALUE_BYTES_MAX = 4 * 1024;

/** Whether a JSON value is one of this type; a number has to be finite. */
export function isOfType(value: unknown, type: VariableType): value is VariableValue {
  return type === 'number' ? Number.isFinite(value) : typeof value === type;
}
