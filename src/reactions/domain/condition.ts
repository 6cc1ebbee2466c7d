import { capFaults } from '../../platform/errors/cap-faults';
import type { Fault } from '../../platform/errors/fault';
import {
  fieldPath,
  formatFault,
  invalidCharactersFault,
  itemPath,
  rangeFault,
  tooFewItemsFault,
  tooManyItemsFault,
  typeFault,
} from '../../platform/errors/fault-words';
import { isExactNumber, isObject } from '../../platform/values/json/json-values';
import { isStorable } from '../../platform/values/text/text-rules';
import { CONDITION_OPERATORS, type OperatorRule } from './condition-operators';

/** Of its JSON text in UTF-8. */
export const CONDITION_BYTES_MAX = 8 * 1024;
/** Levels of nested operators; conditions are evaluated by recursion. */
export const CONDITION_DEPTH_MAX = 16;
/** Each costs memory, and time for every event of the type. */
export const CONDITION_OPERATORS_MAX = 200;
/** Per condition, to keep the answer readable. */
const FAULTS_MAX = 100;

/** A condition in JsonLogic, checked. */
export type Condition = Readonly<Record<string, unknown>>;

interface RulePosition {
  readonly path: string;
  /** The number of operators around it. */
  readonly depth: number;
  /** Within the arguments of an operator that iterates over a list. */
  readonly inIteration: boolean;
}

/**
 * All faults of `when` (contract section 8), any JSON value, with paths such as `when.and[1].foo`. A condition without
 * faults has known operators only, and none that multiply each other's work. Codes: `type`, `too_large`, `too_deep`,
 * `unknown_operator`, `too_costly`, `too_few_items`, `too_many_items`, `format`, `range`, `invalid_characters`,
 * `too_many_faults`.
 */
export function conditionFaults(when: unknown, path = 'when'): readonly Fault[] {
  if (!isObject(when)) return [typeFault(path, 'an object: a rule in JsonLogic')];
  // An operator and its list of arguments are two levels. Checked first: JSON.stringify and the check recurse as deep
  // as it is.
  if (isDeeper(when, 2 * CONDITION_DEPTH_MAX)) return [depthFault(path)];
  if (Buffer.byteLength(JSON.stringify(when)) > CONDITION_BYTES_MAX) return [sizeFault(path)];
  const check = new ConditionCheck();
  check.rule(when, { path, depth: 0, inIteration: false });
  return check.found(path);
}

class ConditionCheck {
  private readonly faults: Fault[] = [];
  private operators = 0;

  found(path: string): readonly Fault[] {
    const { faults } = this;
    if (this.operators > CONDITION_OPERATORS_MAX) {
      const message = `${path} has more than ${CONDITION_OPERATORS_MAX} operators; make it simpler.`;
      faults.unshift({ path, code: 'too_costly', message });
    }
    return capFaults(faults, FAULTS_MAX);
  }

  rule(rule: Readonly<Record<string, unknown>>, at: RulePosition): void {
    const entries = Object.entries(rule);
    const [entry] = entries;
    if (entry === undefined || entries.length > 1) {
      this.faults.push(formatFault(at.path, 'must have exactly one operator'));
    }
    const depth = at.depth + 1;
    if (depth > CONDITION_DEPTH_MAX) this.faults.push(depthFault(at.path));
    else
      for (const [name, args] of entries) this.operator(name, args, { ...at, depth, path: fieldPath(at.path, name) });
  }

  private operator(name: string, args: unknown, at: RulePosition): void {
    this.operators += 1;
    const rule = CONDITION_OPERATORS.get(name);
    if (rule === undefined) {
      const message = `${at.path} is not an operator of conditions.`;
      this.faults.push({ path: at.path, code: 'unknown_operator', message });
      return;
    }
    if (at.inIteration && (rule.iterates === true || rule.grows === true)) {
      const message = `${at.path} is inside an operator that iterates over a list, where it could take too long.`;
      this.faults.push({ path: at.path, code: 'too_costly', message });
    }
    if (rule.literal === true) this.variable(args, at);
    else if (!Array.isArray(args)) this.single(rule, args, at);
    else {
      this.count(rule, args.length, at.path);
      const inIteration = at.inIteration || rule.iterates === true;
      this.entries(args, { ...at, inIteration });
      // The evaluation requires a rule here.
      if (name === 'reduce' && !isObject(args[1])) this.faults.push(typeFault(itemPath(at.path, 1), 'a rule'));
    }
  }

  /** `var` reads one path, which must be literal: a computed path could be any. */
  private variable(args: unknown, { path }: RulePosition): void {
    const [read, otherwise] = Array.isArray(args) ? (args as unknown[]) : [args];
    if (Array.isArray(args)) this.count({ argumentsMin: 0, argumentsMax: 2 }, args.length, path);
    if (read !== undefined && read !== null && typeof read !== 'string' && typeof read !== 'number') {
      this.faults.push(typeFault(path, 'a literal path'));
    } else this.scalar(read, path);
    if (typeof otherwise === 'object' && otherwise !== null) {
      this.faults.push(typeFault(itemPath(path, 1), 'a number, a string, true, false or null'));
    } else this.scalar(otherwise, itemPath(path, 1));
  }

  private single(rule: OperatorRule, argument: unknown, at: RulePosition): void {
    if (rule.unary === true) this.value(argument, at);
    else this.faults.push(typeFault(at.path, 'a list of arguments'));
  }

  private count({ argumentsMin, argumentsMax }: OperatorRule, length: number, path: string): void {
    if (length < argumentsMin) this.faults.push(tooFewItemsFault(path, argumentsMin));
    if (length > argumentsMax) this.faults.push(tooManyItemsFault(path, argumentsMax));
  }

  private entries(list: readonly unknown[], at: RulePosition): void {
    list.forEach((entry, index) => {
      this.value(entry, { ...at, path: itemPath(at.path, index) });
    });
  }

  private value(value: unknown, at: RulePosition): void {
    if (Array.isArray(value)) {
      // Built once per entry, such a list could double in size with each entry.
      if (at.inIteration && value.some((entry) => typeof entry === 'object' && entry !== null)) {
        const message = `${at.path} is a list inside an operator that iterates over a list; there it can only hold plain values.`;
        this.faults.push({ path: at.path, code: 'too_costly', message });
      }
      this.entries(value, at);
    } else if (isObject(value)) this.rule(value, at);
    else this.scalar(value, at.path);
  }

  private scalar(value: unknown, path: string): void {
    if (typeof value === 'string' && !isStorable(value)) this.faults.push(invalidCharactersFault(path));
    if (typeof value === 'number' && !isExactNumber(value)) {
      this.faults.push(rangeFault(path, 'a number that can be kept exactly'));
    }
  }
}

/** Without recursion: it protects recursive code from deep values. */
function isDeeper(root: object, depthMax: number): boolean {
  let level: object[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= depthMax) return true;
    level = level.flatMap((each) =>
      Object.values(each).filter((value): value is object => typeof value === 'object' && value !== null),
    );
  }
  return false;
}

function depthFault(path: string): Fault {
  const message = `${path} is nested deeper than ${CONDITION_DEPTH_MAX} operators; make it flatter.`;
  return { path, code: 'too_deep', message };
}

function sizeFault(path: string): Fault {
  const message = `${path} takes more than ${CONDITION_BYTES_MAX} bytes as JSON; shorten it.`;
  return { path, code: 'too_large', message };
}
