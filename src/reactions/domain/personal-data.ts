import type { Fault } from '../../platform/errors/fault';
import { itemPath, fieldPath } from '../../platform/errors/fault-words';
import { isObject } from '../../platform/json/is-object';
import { hasPersonalName } from '../../platform/masking/mask';
import { parseVariablePath } from '../../variables/domain/variable-path';
import type { Condition } from './condition';
import { CONDITION_OPERATORS } from './condition-operators';
import type { ReactionOperation } from './reaction';

/** Those that hold everything about somebody. */
const WHOLES: ReadonlySet<string> = new Set(['', 'event', 'event.properties']);
/** They look paths up that they may have worked out. */
const LOOK_UPS: ReadonlySet<string> = new Set(['missing', 'missing_some']);

/** Names that event types declare `pii: true`, in any version. */
export type PersonalNames = ReadonlySet<string>;

/** Finds out what of a reaction's operations copies personal data to where an erasure does not reach. */
export type SharedCopies = (names: PersonalNames) => readonly Fault[];

/** Where a reaction reads identity or a personal property (contract section 8), such as `when.and[1].var` or `ops[0].valueFrom`. */
export function personalReads(
  { when, ops }: { readonly when: Condition | undefined; readonly ops: readonly ReactionOperation[] },
  names: PersonalNames,
): readonly string[] {
  const found: string[] = [];
  if (when !== undefined) new ConditionReads(names, found).value(when, 'when', false);
  ops.forEach((op, index) => {
    if ('valueFrom' in op && isPersonalPath(op.valueFrom, names)) found.push(sourcePath(index));
  });
  return found;
}

/** Undefined: nothing is copied anywhere but to values of the participant. Remembers what it found for the same names. */
export function sharedCopiesOf(ops: readonly ReactionOperation[]): SharedCopies | undefined {
  const copies = ops.flatMap((op, index) =>
    'valueFrom' in op && parseVariablePath(op.path)?.scope !== 'user' ? [{ index, valueFrom: op.valueFrom }] : [],
  );
  if (copies.length === 0) return undefined;
  let known: { readonly names: PersonalNames; readonly faults: readonly Fault[] } | undefined;
  return (names) => {
    if (known?.names !== names) {
      const personal = copies.filter(({ valueFrom }) => isPersonalPath(valueFrom, names));
      known = { names, faults: personal.map(({ index }) => sharedCopyFault(sourcePath(index))) };
    }
    return known.faults;
  };
}

/** What is below a personal property is as personal as it is. */
function isPersonalPath(path: string, names: PersonalNames): boolean {
  return path.split('.').some((step) => hasPersonalName(step, names));
}

function sourcePath(index: number): string {
  return `${itemPath('ops', index)}.valueFrom`;
}

function sharedCopyFault(path: string): Fault {
  const message = `${path} is personal data, which may be written to user scope only: an erasure does not reach campaign and app values. Write it to a path that begins with state.user.`;
  return { path, code: 'personal_data', message };
}

class ConditionReads {
  constructor(
    private readonly names: PersonalNames,
    private readonly found: string[],
  ) {}

  /** `inEntry`: where a list is gone through, paths begin at its entry. */
  value(value: unknown, path: string, inEntry: boolean): void {
    if (Array.isArray(value)) value.forEach((entry, index) => this.value(entry, itemPath(path, index), inEntry));
    if (!isObject(value)) return;
    for (const [name, args] of Object.entries(value)) {
      const at = fieldPath(path, name);
      if (name === 'var') this.path(Array.isArray(args) ? args[0] : args, at, inEntry);
      else if (LOOK_UPS.has(name)) this.lookUps(args, at, inEntry);
      else if (CONDITION_OPERATORS.get(name)?.iterates === true) this.iteration(args, at, inEntry);
      else this.value(args, at, inEntry);
    }
  }

  private iteration(args: unknown, path: string, inEntry: boolean): void {
    if (!Array.isArray(args)) return;
    args.forEach((entry, index) => this.value(entry, itemPath(path, index), inEntry || index === 1));
  }

  private path(read: unknown, path: string, inEntry: boolean): void {
    const text = typeof read === 'string' || typeof read === 'number' ? String(read) : '';
    if ((!inEntry && WHOLES.has(text)) || isPersonalPath(text, this.names)) this.found.push(path);
  }

  /** A path that is worked out could be any. */
  private lookUps(args: unknown, path: string, inEntry: boolean): void {
    if (Array.isArray(args)) args.forEach((entry, index) => this.lookUps(entry, itemPath(path, index), inEntry));
    else if (isObject(args)) this.found.push(path);
    else if (typeof args === 'string') this.path(args, path, inEntry);
  }
}
