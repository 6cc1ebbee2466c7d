import { LogicEngine, defaultMethods } from 'json-logic-engine';
import type { Condition } from './condition';
import { CONDITION_OPERATORS } from './condition-operators';
import type { EventRecord } from './event-record';
import { ownValue } from './own-value';

/**
 * How much one look at an event may take: one for each operator that is worked out, and one for each entry or character of
 * what comes out, which bounds its time. Going once through a list of 1,000 entries with ten operators takes half of it.
 */
export const CONDITION_STEPS_MAX = 50_000;

/** `failed`: the event has something with which the condition cannot be worked out. */
export type Verdict = 'met' | 'unmet' | 'failed' | 'too_costly';

export type CompiledCondition = (event: EventRecord) => Verdict;

type Work = (args: unknown, context: unknown, above: unknown, engine: unknown) => unknown;

interface Method {
  readonly method: Work;
  readonly lazy: boolean;
  readonly optimizeUnary: boolean;
}

class TooCostlyError extends Error {}

/**
 * Makes a checked condition ready, to be asked about any number of events.
 *
 * The library's compiler writes JavaScript out of conditions, of which nothing guarantees that text stays text; here it goes
 * through a tree of closures instead. Its operators are wrapped, so that it never runs away, whatever the event is like.
 */
export function compileCondition(when: Condition): CompiledCondition {
  const budget = new Budget();
  const methods = Object.fromEntries(
    [...CONDITION_OPERATORS.keys()].map((name) => [
      name,
      metered(OWN_METHODS.get(name) ?? libraryMethod(name), budget),
    ]),
  );
  const engine = new LogicEngine(methods, { disableInline: true });
  return (event) => {
    budget.left = CONDITION_STEPS_MAX;
    try {
      return engine.truthy(engine.run(when, { event })) ? 'met' : 'unmet';
    } catch (error) {
      return error instanceof TooCostlyError ? 'too_costly' : 'failed';
    }
  };
}

class Budget {
  left = 0;

  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new TooCostlyError();
  }
}

/** Without the marks by which the library would go around it. */
function metered({ method, lazy, optimizeUnary }: Method, budget: Budget): Method {
  const work: Work = (args, context, above, engine) => {
    budget.spend(1);
    const result = method(args, context, above, engine);
    budget.spend(sizeOf(result));
    return result;
  };
  return { method: work, lazy, optimizeUnary };
}

function sizeOf(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length : 0;
}

function libraryMethod(name: string): Method {
  const found: unknown = (defaultMethods as Readonly<Record<string, unknown>>)[name];
  const { method, lazy, optimizeUnary } = found as Partial<Method>;
  const work = method ?? found;
  if (typeof work !== 'function') throw new Error(`The library has no operator ${name}.`);
  return { method: work as Work, lazy: lazy === true, optimizeUnary: optimizeUnary === true };
}

/** Those by which the library reads data: it would find what objects and text inherit. */
const OWN_METHODS: ReadonlyMap<string, Method> = new Map([
  ['var', eager(([path, otherwise = null], context) => read(context, path) ?? otherwise)],
  ['missing', eager((paths, context) => missing(paths, context))],
  ['missing_some', eager(([needed, paths], context) => missingSome(needed, paths, context))],
]);

function eager(work: (args: readonly unknown[], context: unknown) => unknown): Method {
  return { method: (args, context) => work(args as readonly unknown[], context), lazy: false, optimizeUnary: false };
}

function read(context: unknown, path: unknown): unknown {
  if (path === undefined || path === null || path === '') return context;
  return typeof path === 'string' || typeof path === 'number' ? ownValue(context, String(path).split('.')) : undefined;
}

function missing(args: readonly unknown[], context: unknown): readonly unknown[] {
  const paths: readonly unknown[] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  return paths.filter((path) => {
    const value = read(context, path);
    return value === undefined || value === null || value === '';
  });
}

function missingSome(needed: unknown, paths: unknown, context: unknown): readonly unknown[] {
  if (!Array.isArray(paths)) return [];
  const absent = missing([paths], context);
  return paths.length - absent.length >= Number(needed) ? [] : absent;
}
