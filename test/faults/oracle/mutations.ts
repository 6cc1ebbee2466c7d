import { isDeepStrictEqual } from 'node:util';

export type Value = number | string | boolean | null;

export interface SentOperation {
  /** The variable and whose it is, as one text. */
  readonly variable: string;
  readonly op: 'set' | 'inc' | 'dec';
  readonly value: Value;
}

/** What an answer says of one operation. */
export interface Entry {
  readonly previous: Value;
  readonly current: Value;
}

export type MutationOutcome =
  | { readonly kind: 'applied' | 'duplicate'; readonly entries: readonly Entry[] }
  | { readonly kind: 'refused' | 'unknown' };

/** One mutation, and all that its senders have ever heard of it. */
export interface SentMutation {
  /** Undefined: nobody can ask again, and what is unknown stays so. */
  readonly mutationId: string | undefined;
  readonly ops: readonly SentOperation[];
  readonly outcomes: readonly MutationOutcome[];
}

type Told = MutationOutcome & { readonly entries: readonly Entry[] };

/** One change of a variable that was answered to a client. */
interface Step {
  readonly previous: Value;
  readonly current: Value;
}

/**
 * What is wrong between what participants were told and what is stored. Every variable starts as null; its values must not
 * repeat, which holds for counters that only grow and for texts that are written once.
 */
export function mutationViolations(
  sent: readonly SentMutation[],
  stored: Readonly<Record<string, Value | undefined>>,
): string[] {
  const steps = new Map<string, Step[]>();
  const unknown = new Map<string, number>();
  const violations = sent.flatMap((mutation) => {
    const entries = toldOf(mutation)[0]?.entries ?? [];
    mutation.ops.forEach(({ variable }, index) => {
      const entry = entries[index];
      if (entry !== undefined) append(steps, variable, entry);
      else if (isOpen(mutation)) unknown.set(variable, (unknown.get(variable) ?? 0) + 1);
    });
    return violationsOf(mutation);
  });
  const variables = new Set([...Object.keys(stored), ...steps.keys()]);
  for (const variable of variables) {
    const chain = steps.get(variable) ?? [];
    const words = chainViolation(chain, stored[variable] ?? null, unknown.get(variable) ?? 0);
    if (words !== undefined) violations.push(`${words}: ${variable}`);
  }
  return violations;
}

/** A mutation with an id of which nobody knows yet whether it was applied: to be sent again until somebody does. */
export function isUnsettledMutation({ mutationId, outcomes }: Pick<SentMutation, 'mutationId' | 'outcomes'>): boolean {
  return mutationId !== undefined && outcomes.every(({ kind }) => kind === 'unknown');
}

function isOpen({ outcomes }: SentMutation): boolean {
  return outcomes.some(({ kind }) => kind === 'unknown');
}

function toldOf({ outcomes }: SentMutation): Told[] {
  return outcomes.filter((outcome): outcome is Told => 'entries' in outcome);
}

function violationsOf(mutation: SentMutation): string[] {
  const name = mutation.mutationId ?? 'without id';
  const told = toldOf(mutation);
  const violations: string[] = [];
  if (isUnsettledMutation(mutation)) violations.push(`never settled: ${name}`);
  if (told.filter(({ kind }) => kind === 'applied').length > 1) violations.push(`applied more than once: ${name}`);
  if (told.some(({ entries }) => !isDeepStrictEqual(entries, told[0]?.entries))) {
    violations.push(`answered in two ways: ${name}`);
  }
  const isDuplicateOfNothing = told.length > 0 && told.every(({ kind }) => kind === 'duplicate') && !isOpen(mutation);
  if (isDuplicateOfNothing) violations.push(`called a duplicate of nothing: ${name}`);
  for (const { entries } of told) {
    if (!mutation.ops.every((op, index) => follows(op, entries[index])) || entries.length !== mutation.ops.length) {
      violations.push(`not what was asked for: ${name}`);
    }
  }
  return violations;
}

function follows({ op, value }: SentOperation, entry: Entry | undefined): boolean {
  if (entry === undefined) return false;
  if (op === 'set') return entry.current === value;
  const change = Number(value) * (op === 'inc' ? 1 : -1);
  return entry.current === Number(entry.previous ?? 0) + change;
}

/** Up to `gaps` steps without an answer may be missing. */
function chainViolation(steps: readonly Step[], final: Value, gaps: number): string | undefined {
  const next = new Map(steps.map((step) => [step.previous, step]));
  const reached = new Set(steps.map(({ current }) => current));
  if (next.size < steps.length) return 'two changes of one value';
  if (reached.size < steps.length) return 'one value reached twice';
  const starts = [...new Set<Value>([null, ...next.keys()])].filter((value) => !reached.has(value));
  const ends = starts.map((start) => endOf(start, next));
  const walked = ends.reduce((sum, { length }) => sum + length, 0);
  if (walked < steps.length) return 'changes in a circle';
  const breaks = starts.length - 1 + (ends.some(({ value }) => value === final) ? 0 : 1);
  if (breaks <= gaps) return undefined;
  return starts.length - 1 > gaps ? 'a change is lost' : 'the last change is lost';
}

function endOf(start: Value, next: ReadonlyMap<Value, Step>): { readonly value: Value; readonly length: number } {
  let value = start;
  let length = 0;
  for (let step = next.get(value); step !== undefined; step = next.get(value)) {
    value = step.current;
    length += 1;
  }
  return { value, length };
}

function append(steps: Map<string, Step[]>, variable: string, step: Step): void {
  const list = steps.get(variable);
  if (list === undefined) steps.set(variable, [step]);
  else list.push(step);
}
