import type { Fault } from '../../platform/errors/fault';
import { itemPath } from '../../platform/errors/fault-words';
import { hasPersonalName } from '../../platform/privacy/mask';
import { parseVariablePath } from '../../variables/domain/variable';
import type { Condition } from './condition';
import { readsOf, type ConditionRead } from './condition-reads';
import type { ReactionOperation } from './reaction';

/** Paths that contain all personal data, in each spelling (`recordSteps`). */
const WHOLES: ReadonlySet<string> = new Set(['', 'event', 'event.properties', 'properties']);

/** Names of properties that event types declare `pii: true`, in any version. */
export type PersonalNames = ReadonlySet<string>;

/** Finds the operations of a reaction that copy personal data to values that an erasure does not reach. */
export type SharedCopies = (names: PersonalNames) => readonly Fault[];

/**
 * Where a reaction reads identity or a personal property (contract section 8), such as `when.and[1].var` or
 * `ops[0].valueFrom`.
 */
export function personalReads(
  { when, ops }: { readonly when: Condition | undefined; readonly ops: readonly ReactionOperation[] },
  names: PersonalNames,
): readonly string[] {
  const reads = when === undefined ? [] : readsOf(when);
  return [
    ...reads.filter((read) => isPersonalRead(read, names)).map(({ path }) => path),
    ...ops.flatMap((op, index) =>
      'valueFrom' in op && isPersonalPath(op.valueFrom, names) ? [sourcePath(index)] : [],
    ),
  ];
}

/** Undefined: the operations copy event data to `user` values only. The result for the last names is cached. */
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

/** Everything below a personal property is personal, too. */
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

function isPersonalRead({ reads, inEntry }: ConditionRead, names: PersonalNames): boolean {
  if (reads === undefined) return true;
  return (!inEntry && WHOLES.has(reads)) || isPersonalPath(reads, names);
}
