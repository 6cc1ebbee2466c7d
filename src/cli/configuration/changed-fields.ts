import { isObject } from '../../platform/values/json/json-values';
import { fieldPath } from '../../platform/errors/fault-words';

/** A field that differs between two entries. Undefined: the field is absent. */
export interface ChangedField {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** What differs between two values that are JSON; lists are compared as wholes. Empty if they say the same. */
export function changedFields(before: unknown, after: unknown, path = ''): ChangedField[] {
  if (isObject(before) && isObject(after) && !Array.isArray(before) && !Array.isArray(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => changedFields(own(before, name), own(after, name), fieldPath(path, name)));
  }
  return canonical(before) === canonical(after) ? [] : [{ path, before, after }];
}

function own(value: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Equal for values that differ in the order of their fields only. */
function canonical(value: unknown): string | undefined {
  return JSON.stringify(value, (_, each: unknown) => {
    if (!isObject(each) || Array.isArray(each)) return each;
    // Entries, so that a field "__proto__" is one like any other.
    return { entries: Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)) };
  });
}
