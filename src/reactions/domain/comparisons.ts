import { COSTS, type Meter } from './condition-meter';
import { OperandError } from './operator-methods';

/** Values that JavaScript can order: two texts, two numbers, or an absent value with either. */
type Ordered = string | number | null;

interface Comparison {
  /**
   * `strict` compares values of any type without conversion. Null equals only null for `loose`, and is 0 for `ordered`, as in
   * JavaScript.
   */
  readonly kind: 'strict' | 'loose' | 'ordered';
  readonly holds: (a: unknown, b: unknown) => boolean;
}

const strict = (holds: Comparison['holds']): Comparison => ({ kind: 'strict', holds });
const loose = (holds: Comparison['holds']): Comparison => ({ kind: 'loose', holds });
const ordered = (holds: (a: string, b: string) => boolean): Comparison => ({
  kind: 'ordered',
  holds: holds as Comparison['holds'],
});

/** The comparisons of JsonLogic. As in `json-logic-engine`, values other than numbers and texts cannot be converted. */
export const COMPARISONS: ReadonlyMap<string, Comparison> = new Map([
  ['===', strict((a, b) => a === b)],
  ['!==', strict((a, b) => a !== b)],
  ['==', loose((a, b) => a === b)],
  ['!=', loose((a, b) => a !== b)],
  ['<', ordered((a, b) => a < b)],
  ['<=', ordered((a, b) => a <= b)],
  ['>', ordered((a, b) => a > b)],
  ['>=', ordered((a, b) => a >= b)],
]);

type Part = (context: unknown) => unknown;

/** Compares two operands, or three, each with the next one. Stops at the first comparison that fails. */
export function compare(comparison: Comparison, parts: readonly Part[], context: unknown, meter: Meter): boolean {
  let before = parts[0]?.(context);
  for (let index = 1; index < parts.length; index += 1) {
    const value = parts[index]?.(context);
    meter.spend(costOf(before, value));
    if (!holdsFor(comparison, before, value)) return false;
    before = value;
  }
  return true;
}

function holdsFor({ kind, holds }: Comparison, a: unknown, b: unknown): boolean {
  if (kind === 'strict' || (isText(a) && isText(b))) return holds(a, b);
  if (kind === 'loose' && (a === null || b === null)) return holds(a, b);
  const left = numberOf(a);
  return holds(left, a === null ? scalarOf(b) : numberOf(b));
}

/** Two texts are compared up to the length of the shorter one; a text and another value are compared as numbers. */
function costOf(a: unknown, b: unknown): number {
  if (typeof a !== 'string') return typeof b === 'string' ? b.length * COSTS.readCharacter : 0;
  return typeof b === 'string' ? Math.min(a.length, b.length) * COSTS.character : a.length * COSTS.readCharacter;
}

function isText(value: unknown): value is Exclude<Ordered, number> {
  return typeof value === 'string' || value === null;
}

function scalarOf(value: unknown): number {
  if (typeof value === 'object' && value !== null) throw new OperandError();
  return Number(value);
}

function numberOf(value: unknown): number {
  const number = scalarOf(value);
  if (Number.isNaN(number)) throw new OperandError();
  return number;
}
