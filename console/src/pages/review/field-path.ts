const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
/** Longer names are cut in faults. */
const NAME_LENGTH_MAX = 64;
const NOT_SHOWN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;
const LAST_STEP = /(?:(?:^|\.)[A-Za-z_$][\w$]*|\[(?:\d+|"(?:[^"\\]|\\.)*")\])$/;

/** The path of a field as faults of the service write it: `identity.type`, `attributes["odd key"]`. */
export function fieldPath(parent: string, name: string): string {
  const start = name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name;
  const shown = start.replace(NOT_SHOWN, '\uFFFD');
  if (!IDENTIFIER.test(shown)) return `${parent}[${JSON.stringify(shown)}]`;
  return parent === '' ? shown : `${parent}.${shown}`;
}

/** The path without its last step; undefined for one that has none, or is cut. */
export function pathAround(path: string): string | undefined {
  const around = path.replace(LAST_STEP, '');
  return around === path ? undefined : around;
}
