import type { Schema } from '../../api/api-types';
import { visibleText } from '../../design/visible-text';

export type Variable = Schema<'VariableDto'>;
export type Value = number | string | boolean | null | undefined;

/** A value as JSON has it, so that `"1"` and `1` differ. */
export function ValueText({ value }: { readonly value: Value }) {
  return <code>{value === undefined || value === null ? '–' : visibleText(JSON.stringify(value))}</code>;
}

export function limitsOf({ min, max }: Pick<Variable, 'min' | 'max'>): string {
  if (min === undefined && max === undefined) return '–';
  return `${min ?? '−∞'} to ${max ?? '∞'}`;
}

export function periodOf({ period }: Pick<Variable, 'period'>): string {
  return period === undefined ? '–' : `each ${period.every}, ${visibleText(period.timezone)}`;
}
