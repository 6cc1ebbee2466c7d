import { similarName } from '../values/text/similar-name';
import type { FaultList } from './fault-list';
import { fieldPath, unknownFieldFault } from './fault-words';

/** Suggestions are made for this many faults of a body; each takes time. */
export const SUGGESTIONS_MAX = 20;

/**
 * Adds a fault for each unknown field of an object, with a suggestion. `whole` names the object: `a mutation`, `an
 * operation`.
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
