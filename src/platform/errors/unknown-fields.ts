import { similarName } from '../values/text/similar-name';
import type { FaultList } from './fault-list';
import { fieldPath, unknownFieldFault } from './fault-words';

/** For each of so many faults of a body a field is looked for that was meant: nobody reads more, and it takes time. */
export const SUGGESTIONS_MAX = 20;

/**
 * Adds a fault for each field of an object that is none of the known ones, with the one that was probably meant. `whole` is what
 * they are fields of: `a mutation`, `an operation`.
 */
export function addUnknownFields(
  object: object,
  known: ReadonlySet<string>,
  at: { readonly path: string; readonly whole: string },
  faults: FaultList,
): void {
  for (const field of Object.keys(object)) {
    if (known.has(field)) continue;
    const meant = faults.listedCount < SUGGESTIONS_MAX ? similarName(field, known) : undefined;
    faults.add(() => unknownFieldFault(fieldPath(at.path, field), at.whole, meant));
  }
}
