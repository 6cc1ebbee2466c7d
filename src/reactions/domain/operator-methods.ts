import { COSTS, type Meter } from './condition-meter';
import { ownValue } from './event-record';

/** Evaluates an operator. Throws if it is not defined for the operands. */
export type Method = (operands: unknown, meter: Meter, context: unknown) => unknown;

/** The operators that work on values. For unusual operands they do the same as `json-logic-engine`. */
export const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['+', add],
  ['*', multiply],
  ['-', subtract],
  ['/', divide],
  ['%', remainder],
  ['min', (operands, meter) => extreme(operands, meter, (value, best) => value < best)],
  ['max', (operands, meter) => extreme(operands, meter, (value, best) => value > best)],
  ['in', isIn],
  ['substr', substr],
  ['cat', cat],
  ['merge', merge],
  ['missing', (operands, meter, context) => missing(listOf(operands), meter, context)],
  ['missing_some', missingSome],
]);

/** Operators that take a single operand without a list around it. */
export const SINGLE_OPERAND: ReadonlySet<string> = new Set(['+', '-', 'cat']);

/** The operator is not defined for these operands. */
export class OperandError extends Error {}

/** The value at a path of the data; null means absent. */
function readPath(context: unknown, path: unknown, meter: Meter): unknown {
  if (path === undefined || path === null || path === '') return context;
  if (typeof path !== 'string' && typeof path !== 'number') return undefined;
  const text = String(path);
  // In a path of dots only, each character is a step.
  meter.spend(COSTS.namedPath + text.length * COSTS.pathStep);
  return ownValue(context, text.split('.'));
}

function add(operands: unknown, meter: Meter): number {
  meter.spendFor(operands);
  if (!Array.isArray(operands)) return scalarNumber(operands);
  return numberOr(operands.reduce<number>((sum, operand) => sum + numberOf(operand), 0));
}

function multiply(operands: unknown, meter: Meter): number {
  meter.spendFor(operands);
  return numberOr(listOf(operands).reduce<number>((product, operand) => product * numberOf(operand), 1));
}

function subtract(operands: unknown, meter: Meter): number {
  meter.spendFor(operands);
  if (!Array.isArray(operands)) return -scalarNumber(operands);
  const [first, ...others] = operands as unknown[];
  if (operands.length === 0) throw new OperandError();
  const difference = numberOf(first);
  if (others.length === 0) return -difference;
  return numberOr(others.reduce<number>((left, operand) => left - numberOf(operand), difference));
}

function divide(operands: unknown, meter: Meter): number {
  meter.spendFor(operands);
  const [first, ...others] = listOf(operands);
  const quotient = others.reduce<number>((left, operand) => {
    if (!operand) throw new OperandError();
    return left / numberOf(operand);
  }, numberOf(first));
  if (quotient === Infinity) throw new OperandError();
  return numberOr(quotient);
}

function remainder(operands: unknown, meter: Meter): number {
  meter.spendFor(operands);
  const [first, ...others] = listOf(operands);
  return numberOr(others.reduce<number>((left, operand) => left % numberOf(operand), numberOf(first)));
}

function extreme(operands: unknown, meter: Meter, isBetter: (value: number, best: number) => boolean): number {
  const values = listOf(operands);
  meter.spend(values.length * COSTS.entry);
  let best: number | undefined;
  for (const value of values) {
    if (typeof value !== 'number') throw new OperandError();
    if (best === undefined || isBetter(value, best)) best = value;
  }
  if (best === undefined) throw new OperandError();
  return best;
}

/** Whether a text contains another one, or a list an entry. */
function isIn(operands: unknown, meter: Meter): boolean {
  const [item, found] = listOf(operands);
  const holder = found || [];
  if (typeof holder === 'string') {
    meter.spendFor(item);
    const part = textOf(item);
    return hasPart(holder, part, meter);
  }
  if (!Array.isArray(holder)) throw new OperandError();
  const compared = typeof item === 'string' ? item.length * COSTS.character : 0;
  meter.spend(holder.length * (COSTS.entry + compared));
  return holder.includes(item);
}

/**
 * Compares at each position of the first character, and charges for each comparison. `String.includes` could take a
 * time in proportion to the product of both lengths, which cannot be charged in advance.
 */
function hasPart(text: string, part: string, meter: Meter): boolean {
  meter.spend(text.length * COSTS.character);
  const first = part.charAt(0);
  const last = text.length - part.length;
  for (let at = text.indexOf(first); at !== -1 && at <= last; at = text.indexOf(first, at + 1)) {
    meter.spend(COSTS.operator + part.length * COSTS.readCharacter);
    if (text.startsWith(part, at)) return true;
  }
  return false;
}

function substr(operands: unknown, meter: Meter): string {
  meter.spendFor(operands);
  const [text, from, length] = listOf(operands);
  if (typeof text !== 'string') throw new OperandError();
  const start = integerOf(from);
  const rest = text.slice(start < 0 ? Math.max(0, text.length + start) : start);
  if (length === undefined) return rest;
  if (!(Number(length) < 0)) return rest.slice(0, Math.max(0, integerOf(length)));
  // As in JavaScript, where 2 + '-1' is the text '2-1': a length that is negative and no number leaves nothing.
  return typeof length === 'number' ? rest.slice(0, Math.max(0, Math.trunc(rest.length + length))) : '';
}

function cat(operands: unknown, meter: Meter): string {
  meter.spendFor(operands);
  if (operands === null || operands === undefined) throw new OperandError();
  if (!Array.isArray(operands)) return textOf(operands);
  return (operands as unknown[]).map((operand) => (operand === null ? '' : textOf(operand))).join('');
}

function merge(operands: unknown, meter: Meter): unknown[] {
  const lists = listOf(operands);
  meter.spend(lists.length * COSTS.entry);
  const merged: unknown[] = [];
  for (const each of lists) {
    if (!Array.isArray(each)) merged.push(each);
    else {
      meter.spend(each.length * COSTS.entry);
      for (const entry of each) merged.push(entry);
    }
  }
  return merged;
}

function missing(operands: readonly unknown[], meter: Meter, context: unknown): readonly unknown[] {
  const paths: readonly unknown[] = Array.isArray(operands[0]) ? (operands[0] as unknown[]) : operands;
  meter.spend(paths.length * COSTS.entry);
  return paths.filter((path) => {
    const value = readPath(context, path, meter);
    return value === undefined || value === null || value === '';
  });
}

function missingSome(operands: unknown, meter: Meter, context: unknown): readonly unknown[] {
  const [needed, paths] = listOf(operands);
  if (!Array.isArray(paths)) return [];
  meter.spendFor(needed);
  const absent = missing([paths], meter, context);
  return paths.length - absent.length >= Number(needed) ? [] : absent;
}

function listOf(operands: unknown): readonly unknown[] {
  return Array.isArray(operands) ? (operands as unknown[]) : [operands];
}

/** As in JavaScript: the entries of a list are joined by commas, and an object is `[object Object]`. */
function textOf(operand: unknown): string {
  const value = operand as string | number;
  return String(value);
}

function numberOf(operand: unknown): number {
  if (typeof operand === 'object' && operand !== null) throw new OperandError();
  return Number(operand);
}

function scalarNumber(operand: unknown): number {
  return numberOr(numberOf(operand));
}

function numberOr(value: number): number {
  if (Number.isNaN(value)) throw new OperandError();
  return value;
}

function integerOf(operand: unknown): number {
  return Math.trunc(Number(operand)) || 0;
}
