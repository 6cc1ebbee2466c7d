/** The arguments of an operator of JsonLogic, and its influence on the cost of a condition. */
export interface OperatorRule {
  readonly argumentsMin: number;
  readonly argumentsMax: number;
  /** A single argument may be sent without a list around it. */
  readonly unary?: true;
  /** Iterates over a list: its second argument is evaluated once for each entry. */
  readonly iterates?: true;
  /** Its result can be larger than each of its arguments. */
  readonly grows?: true;
  /** Its arguments must be literal values, not rules. */
  readonly literal?: true;
}

const ANY = Number.POSITIVE_INFINITY;

function takes(argumentsMin: number, argumentsMax: number, more: Partial<OperatorRule> = {}): OperatorRule {
  return { argumentsMin, argumentsMax, ...more };
}

const iteration = (argumentsMin: number, argumentsMax: number): OperatorRule =>
  takes(argumentsMin, argumentsMax, { iterates: true });

/** Every operator of conditions: those of JsonLogic without `log`, `method` and others with side effects. */
export const CONDITION_OPERATORS: ReadonlyMap<string, OperatorRule> = new Map<string, OperatorRule>([
  ['var', takes(0, 2, { unary: true, literal: true })],
  ['missing', takes(1, ANY, { unary: true, grows: true })],
  ['missing_some', takes(2, 2, { grows: true })],
  ['if', takes(2, ANY)],
  ['?:', takes(3, 3)],
  ['and', takes(1, ANY)],
  ['or', takes(1, ANY)],
  ['!', takes(1, 1, { unary: true })],
  ['!!', takes(1, 1, { unary: true })],
  ...['==', '===', '!=', '!=='].map((name) => [name, takes(2, 2)] as const),
  ...['<', '<=', '>', '>='].map((name) => [name, takes(2, 3)] as const),
  ['+', takes(1, ANY, { unary: true })],
  ['*', takes(1, ANY, { unary: true })],
  ['-', takes(1, 2, { unary: true })],
  ['/', takes(2, 2)],
  ['%', takes(2, 2)],
  ['min', takes(1, ANY, { unary: true })],
  ['max', takes(1, ANY, { unary: true })],
  ['in', takes(2, 2)],
  ['substr', takes(2, 3)],
  ['cat', takes(1, ANY, { unary: true, grows: true })],
  ['merge', takes(1, ANY, { unary: true, grows: true })],
  ['map', iteration(2, 2)],
  ['filter', iteration(2, 2)],
  ['all', iteration(2, 2)],
  ['some', iteration(2, 2)],
  ['none', iteration(2, 2)],
  ['reduce', iteration(2, 3)],
]);
