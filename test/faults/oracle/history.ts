import { isDeepStrictEqual } from 'node:util';
import type { Value } from './mutations';

/** One stored entry of the history of a value. */
export interface HistoryStep {
  /** The variable and whose it is, as one text. */
  readonly variable: string;
  readonly previous: Value;
  readonly current: Value;
  /** The beginning of its period; null for a variable without periods. */
  readonly periodStart: number | null;
  /** What the variable was before its first change. */
  readonly initial: Value;
}

/**
 * What is wrong with the history of values, all of whose entries come in their order: none is removed by age. `stored`:
 * the values that are stored now, by the same texts.
 */
export function historyViolations(
  entries: readonly HistoryStep[],
  stored: Readonly<Record<string, Value | undefined>>,
): string[] {
  const last = new Map<string, HistoryStep>();
  const violations: string[] = [];
  for (const entry of entries) {
    const before = last.get(entry.variable);
    if (before === undefined && !isDeepStrictEqual(entry.previous, entry.initial)) {
      violations.push(`a history without its beginning: ${entry.variable}`);
    }
    if (before !== undefined && !isNewPeriod(before, entry) && !isDeepStrictEqual(before.current, entry.previous)) {
      violations.push(`a break in the history: ${entry.variable}`);
    }
    last.set(entry.variable, entry);
  }
  for (const [variable, value] of Object.entries(stored)) {
    if (!isDeepStrictEqual(last.get(variable)?.current ?? null, value ?? null)) {
      violations.push(`a value without its change in the history: ${variable}`);
    }
  }
  return violations;
}

/** A variable starts again from its default in each period. */
function isNewPeriod({ periodStart: before }: HistoryStep, { periodStart: after }: HistoryStep): boolean {
  return after !== null && (before === null || after > before);
}
