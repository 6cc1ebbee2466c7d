import type { TraceSearch } from '../../platform/privacy/trace-search';
import type { Steps } from '../../platform/values/time-slice';

type Properties = Readonly<Record<string, unknown>>;

/**
 * Properties without what names a person, at any depth: their members are removed, and entries of lists become null, so
 * that the others keep their places. In steps of bounded work. The same object if nothing names the person.
 */
export function* withoutTraces(properties: Properties, search: TraceSearch): Steps<Properties> {
  if (!search.isNamedIn(JSON.stringify(properties))) return properties;
  const rest = yield* restOfObject(properties, search);
  // What only the whole text shows cannot be told from the rest.
  return search.isNamedIn(JSON.stringify(rest)) ? {} : rest;
}

function* restOfObject(members: Properties, search: TraceSearch): Steps<Properties> {
  const kept: [string, unknown][] = [];
  for (const [name, member] of Object.entries(members)) {
    const rest = search.isNamedIn(JSON.stringify(name)) ? undefined : yield* restOf(name, member, search);
    if (rest !== undefined) kept.push([name, rest]);
  }
  return Object.fromEntries(kept);
}

/** Undefined if the value names the person. `name`: the member that it stands in, which may say what it is. */
function* restOf(name: string, value: unknown, search: TraceSearch): Steps<unknown> {
  if (Array.isArray(value)) {
    const entries: unknown[] = [];
    for (const entry of value) entries.push((yield* restOf(name, entry, search)) ?? null);
    return entries;
  }
  if (typeof value === 'object' && value !== null) return yield* restOfObject(value as Properties, search);
  yield undefined;
  return search.isNamedIn(JSON.stringify({ [name]: value })) ? undefined : value;
}
