import { fieldPath, itemPath } from '../../platform/errors/fault-words';
import type { Condition } from './condition';
import { COSTS, Meter, OverdueError, TooCostlyError } from './condition-meter';
import { conditionData, type EventRecord, ownValue } from './event-record';
import { compare, COMPARISONS } from './comparisons';
import { METHODS, OperandError, SINGLE_OPERAND } from './operator-methods';

/**
 * `failed`: the condition cannot be evaluated with this event. `too_costly`: it costs more than the limit, always with
 * this event. `overdue`: this time it took longer than the limit.
 */
export type Verdict = 'met' | 'unmet' | 'failed' | 'too_costly' | 'overdue';

/** `isOverdue` is called from time to time; true ends the evaluation. */
export type CompiledCondition = (event: EventRecord, isOverdue?: () => boolean) => Verdict;

/** Hears of each operator that is evaluated, by its path in the condition, such as `when.and[1].in`. */
export interface ConditionTrace {
  begin(path: string): void;
  end(path: string, value: unknown): void;
}

/** Evaluates a part of a condition; `context`: the data that its paths start at. */
type Part = (context: unknown) => unknown;

/**
 * Compiles a checked condition into a tree of closures; no text becomes code. Each operator is charged by the size of
 * its operands before it is evaluated, so that no event can make a condition run for long (docs/adr/0034). A `trace`
 * makes it slower.
 */
export function compileCondition(when: Condition, trace?: ConditionTrace): CompiledCondition {
  const meter = new Meter();
  const whole = new Compilation(meter, trace).part(when, 'when');
  return (event, isOverdue = never) => {
    meter.begin(isOverdue);
    try {
      return meter.isTruthy(whole(conditionData(event))) ? 'met' : 'unmet';
    } catch (error) {
      if (error instanceof TooCostlyError) return 'too_costly';
      return error instanceof OverdueError ? 'overdue' : 'failed';
    }
  };
}

class Compilation {
  constructor(
    private readonly meter: Meter,
    private readonly trace: ConditionTrace | undefined,
  ) {}

  part(rule: unknown, path: string): Part {
    if (Array.isArray(rule)) return this.list(rule, path);
    if (typeof rule !== 'object' || rule === null) return () => rule;
    const [[name, args] = ['', undefined]] = Object.entries(rule);
    const at = this.below(path, name);
    const work = this.operator(name, args, at);
    const charged: Part = (context) => {
      this.meter.spend(COSTS.operator);
      return work(context);
    };
    return this.trace === undefined ? charged : traced(charged, at, this.trace);
  }

  /** The path of a part, for the trace. Without one there is none: paths took half of the time of compiling. */
  private below(path: string, step: string | number): string {
    if (this.trace === undefined) return '';
    return typeof step === 'number' ? itemPath(path, step) : fieldPath(path, step);
  }

  private operator(name: string, args: unknown, at: string): Part {
    if (name === 'var') return this.variable(args);
    const method = METHODS.get(name);
    if (method !== undefined) {
      const operands = this.operands(name, args, at);
      return (context) => method(operands(context), this.meter, context);
    }
    const parts = Array.isArray(args)
      ? (args as unknown[]).map((each, index) => this.part(each, this.below(at, index)))
      : [this.part(args, at)];
    const comparison = COMPARISONS.get(name);
    if (comparison !== undefined) return (context) => compare(comparison, parts, context, this.meter);
    return this.control(name, parts);
  }

  /** A single operand may be sent with or without a list around it. */
  private operands(name: string, args: unknown, at: string): Part {
    const takesSingle = SINGLE_OPERAND.has(name);
    if (!Array.isArray(args)) {
      const single = this.part(args, at);
      return takesSingle ? single : (context) => asList(single(context));
    }
    const [first] = args as unknown[];
    return takesSingle && args.length === 1 && !Array.isArray(first)
      ? this.part(first, this.below(at, 0))
      : this.list(args, at);
  }

  private list(rules: readonly unknown[], path: string): Part {
    if (rules.every(isPlain)) return () => rules;
    const parts = rules.map((each, index) => this.part(each, this.below(path, index)));
    return (context) => {
      this.meter.spend(parts.length * COSTS.entry);
      return parts.map((part) => part(context));
    };
  }

  private variable(args: unknown): Part {
    const [path, otherwise = null] = Array.isArray(args) ? (args as unknown[]) : [args];
    if (path === '' || (typeof path !== 'string' && typeof path !== 'number')) return (context) => context ?? otherwise;
    const steps = String(path).split('.');
    return (context) => {
      this.meter.spend(steps.length * COSTS.pathStep);
      return ownValue(context, steps) ?? otherwise;
    };
  }

  /** Operators that test their operands for truth, or decide which of them are evaluated, or how often. */
  private control(name: string, parts: readonly Part[]): Part {
    const [first = nothing] = parts;
    switch (name) {
      case '!':
        return (context) => !this.meter.isTruthy(first(context));
      case '!!':
        return (context) => this.meter.isTruthy(first(context));
      case 'if':
      case '?:':
        return (context) => this.choose(parts, context);
      case 'and':
        return (context) => this.firstThat(parts, context, false);
      case 'or':
        return (context) => this.firstThat(parts, context, true);
      case 'reduce':
        return (context) => this.reduce(parts, context);
      default:
        return this.iteration(name, parts);
    }
  }

  private choose(parts: readonly Part[], context: unknown): unknown {
    for (let index = 0; index + 1 < parts.length; index += 2) {
      if (this.meter.isTruthy(parts[index]?.(context))) return parts[index + 1]?.(context);
    }
    return parts.length % 2 === 0 ? null : parts.at(-1)?.(context);
  }

  private firstThat(parts: readonly Part[], context: unknown, truth: boolean): unknown {
    let value: unknown = null;
    for (const part of parts) {
      value = part(context);
      if (this.meter.isTruthy(value) === truth) return value;
    }
    return value;
  }

  private iteration(name: string, [list = nothing, each = nothing]: readonly Part[]): Part {
    const isTrueOf = (entry: unknown): boolean => this.meter.isTruthy(each(entry));
    switch (name) {
      case 'map':
        return (context) => this.entries(list(context)).map((entry) => this.step(each, entry));
      case 'filter':
        return (context) => this.entries(list(context)).filter((entry) => this.step(isTrueOf, entry));
      case 'some':
        return (context) => this.characters(list(context)).some((entry) => this.step(isTrueOf, entry));
      case 'none':
        return (context) => !this.characters(list(context)).some((entry) => this.step(isTrueOf, entry));
      case 'all':
        return (context) => this.isTrueOfAll(list(context), isTrueOf);
      default:
        throw new Error(`Conditions have no operator ${name}`);
    }
  }

  /** False for a value without entries. */
  private isTrueOfAll(value: unknown, isTrueOf: (entry: unknown) => boolean): boolean {
    const entries = this.characters(value);
    return entries.length > 0 && entries.every((entry) => this.step(isTrueOf, entry));
  }

  private reduce([list = nothing, next = nothing, start]: readonly Part[], context: unknown): unknown {
    const entries = this.entries(list(context));
    const fold = (accumulator: unknown, current: unknown): unknown => {
      this.meter.spend(COSTS.entry);
      return next({ accumulator, current });
    };
    if (start !== undefined) return entries.reduce(fold, start(context));
    if (entries.length === 0) throw new OperandError();
    return entries.reduce(fold);
  }

  private step<T>(work: (entry: unknown) => T, entry: unknown): T {
    this.meter.spend(COSTS.entry);
    return work(entry);
  }

  /** An absent value has no entries. */
  private entries(value: unknown): readonly unknown[] {
    const list = value || [];
    if (!Array.isArray(list)) throw new OperandError();
    return list as unknown[];
  }

  /** Some operators iterate over the characters of a text, too. */
  private characters(value: unknown): readonly unknown[] {
    if (typeof value !== 'string') return Array.isArray(value) ? (value as unknown[]) : [];
    this.meter.spend(value.length * COSTS.entry);
    return value.split('');
  }
}

function traced(part: Part, at: string, trace: ConditionTrace): Part {
  return (context) => {
    trace.begin(at);
    const value = part(context);
    trace.end(at, value);
    return value;
  };
}

const nothing: Part = () => undefined;

function never(): boolean {
  return false;
}

function asList(value: unknown): unknown {
  return Array.isArray(value) ? value : [value];
}

/** Whether it contains no rule, at any depth. */
function isPlain(value: unknown): boolean {
  return Array.isArray(value) ? value.every(isPlain) : typeof value !== 'object' || value === null;
}
