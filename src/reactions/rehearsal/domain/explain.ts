import { fieldPath, itemPath } from '../../../platform/errors/fault-words';
import { isObject } from '../../../platform/values/json/json-values';
import type { ConditionTrace, Verdict } from '../../domain/compile-condition';
import type { Condition } from '../../domain/condition';
import { readsOf } from '../../domain/condition-reads';
import { type EventRecord, ownValue, recordSteps } from '../../domain/event-record';

/** What decided whether a reaction applies to an event. */
export const REASON_CODES = {
  no_condition: 'The reaction has no `when`, so that every event of its type and source fits.',
  condition_met: 'The part of `when` that decided holds.',
  condition_not_met: 'The part of `when` that decided does not hold.',
  condition_failed: 'The part of `when` cannot be evaluated with this event.',
  too_costly: '`when` costs more than the limit with this event.',
  timed_out: '`when` took longer than the limit.',
  event_type: 'The reaction is to events of another type.',
  source: 'The reaction is to events of another source.',
  disabled: 'The reaction is switched off.',
  profile_erased: 'The person of the event was erased.',
  not_found: 'There is no event with this id.',
  invalid_event: 'The event would be refused; `faults` says why.',
} as const;
export type ReasonCode = keyof typeof REASON_CODES;

/** The field of the reaction that decided, and a sentence without values of the event. */
export interface Reason {
  readonly path: string;
  readonly code: ReasonCode;
  readonly message: string;
}

/**
 * Keeps the results of one evaluation of a condition by path. An operator may be evaluated for each entry of a list, with
 * a large object as its result. So results are tested for truth only when they are asked for.
 */
export class ConditionResults implements ConditionTrace {
  private readonly results = new Map<string, unknown>();
  private begun: string[] = [];

  /** Starts again, for another event. */
  clear(): void {
    this.results.clear();
    this.begun = [];
  }

  begin(path: string): void {
    this.begun.push(path);
  }

  end(path: string, value: unknown): void {
    this.begun.pop();
    this.results.set(path, value);
  }

  /** Undefined: it was not evaluated. */
  resultAt(path: string): boolean | undefined {
    return this.results.has(path) ? isTruthy(this.results.get(path)) : undefined;
  }

  /** The innermost operator that was not finished. */
  get unfinished(): string | undefined {
    return this.begun.at(-1);
  }
}

/** Which part of `when` decided, by the results of its evaluation with this event. */
export function explainCondition(
  when: Condition,
  verdict: Verdict,
  results: ConditionResults,
  event: EventRecord,
): Reason {
  switch (verdict) {
    case 'met':
    case 'unmet':
      return explainRule(when, 'when', verdict === 'met', { results, event, isMatched: verdict === 'met' });
    case 'failed': {
      const path = results.unfinished ?? 'when';
      const message = `${path} cannot be evaluated with this event, for example because it compares a text with a number.`;
      return { path, code: 'condition_failed', message };
    }
    case 'too_costly':
      return { path: 'when', code: 'too_costly', message: 'when costs more than the limit with this event.' };
    case 'overdue':
      return { path: 'when', code: 'timed_out', message: 'when took longer than the limit with this event.' };
  }
}

interface Evaluated {
  readonly results: ConditionResults;
  readonly event: EventRecord;
  /** Whether the condition as a whole is met. */
  readonly isMatched: boolean;
}

/** Follows the operands that decided, down to the first one that is no `and`, `or`, `!` or `if`. */
function explainRule(rule: Condition, path: string, isMet: boolean, evaluated: Evaluated): Reason {
  const [[name, args] = ['', undefined]] = Object.entries(rule);
  const at = fieldPath(path, name);
  const operands = operandsOf(args, at);
  const deciding = decidingOperand(name, operands, isMet, evaluated);
  if (deciding === undefined) return partReason(rule, operands, { at, isMet }, evaluated);
  if (!isObject(deciding.value)) return reasonAt(deciding.path, isMet, 'is a constant that decides', evaluated);
  const isNegated = name === '!';
  return explainRule(deciding.value, deciding.path, isNegated ? !isMet : isMet, evaluated);
}

interface Operand {
  readonly value: unknown;
  readonly path: string;
}

function operandsOf(args: unknown, at: string): readonly Operand[] {
  if (!Array.isArray(args)) return [{ value: args, path: at }];
  return args.map((value: unknown, index) => ({ value, path: itemPath(at, index) }));
}

/** Undefined: all operands decide together, or the operator by itself. */
function decidingOperand(
  name: string,
  operands: readonly Operand[],
  isMet: boolean,
  evaluated: Evaluated,
): Operand | undefined {
  const [first] = operands;
  switch (name) {
    case '!':
    case '!!':
      return isObject(first?.value) ? first : undefined;
    case 'and':
    case 'or':
      if (operands.length === 1) return first;
      if (isMet === (name === 'and')) return undefined;
      return operands.find((operand) => truthOf(operand, evaluated) === isMet);
    case 'if':
    case '?:':
      return chosenOperand(operands, evaluated);
    default:
      return undefined;
  }
}

/** The result of the first condition of an `if` that holds, else its last operand. */
function chosenOperand(operands: readonly Operand[], evaluated: Evaluated): Operand | undefined {
  for (let index = 0; index + 1 < operands.length; index += 2) {
    const condition = operands[index];
    if (condition !== undefined && truthOf(condition, evaluated) === true) return operands[index + 1];
  }
  return operands.length % 2 === 0 ? undefined : operands.at(-1);
}

/** Undefined: it was not evaluated. */
function truthOf({ value, path }: Operand, { results }: Evaluated): boolean | undefined {
  if (!isObject(value)) return isTruthy(value);
  const [name = ''] = Object.keys(value);
  return results.resultAt(fieldPath(path, name));
}

function partReason(
  rule: Condition,
  operands: readonly Operand[],
  { at, isMet }: { readonly at: string; readonly isMet: boolean },
  evaluated: Evaluated,
): Reason {
  const [name = ''] = Object.keys(rule);
  if (name === 'and' && isMet) return reasonAt(at, isMet, 'holds: all of its parts hold', evaluated);
  if (name === 'or' && !isMet) return reasonAt(at, isMet, 'does not hold: none of its parts holds', evaluated);
  if (BRANCHES.has(name) && operands.length > 1) {
    return reasonAt(at, isMet, 'does not hold: none of its conditions holds, and it has no other result', evaluated);
  }
  const missing = readsOf(rule)
    .filter(({ inEntry }) => !inEntry)
    .map(({ reads }) => missingWords(evaluated.event, reads))
    .find((words) => words !== undefined);
  const words = isMet ? 'holds' : 'does not hold';
  return reasonAt(at, isMet, missing === undefined ? words : `${words}; ${missing}`, evaluated);
}

function reasonAt(path: string, isMet: boolean, words: string, { isMatched }: Evaluated): Reason {
  const negated = isMet === isMatched ? '' : '; the condition negates that';
  return { path, code: isMet ? 'condition_met' : 'condition_not_met', message: `${path} ${words}${negated}.` };
}

const BRANCHES: ReadonlySet<string> = new Set(['if', '?:']);

/** Undefined: the event has a value there, or the path is computed. */
function missingWords(event: EventRecord, path: string | undefined): string | undefined {
  if (path === undefined || path === '') return undefined;
  const value = path === 'event' ? event : ownValue(event, recordSteps(path));
  if (value === undefined) return `the event has no ${path}`;
  return value === null ? `${path} is null` : undefined;
}

/** By the rules of JsonLogic (`Meter.isTruthy`); the size of objects was charged by the evaluation. */
function isTruthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}
