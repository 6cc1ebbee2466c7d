/** A whole number as JavaScript writes it: the place of a list's entry. */
const INDEX = /^(?:0|[1-9]\d{0,8})$/;

/**
 * What stands at a path of a JSON value, undefined where there is nothing. Own fields and entries only: `constructor` and
 * `__proto__` are found where somebody has sent a field of that name.
 */
export function ownValue(root: unknown, steps: readonly string[]): unknown {
  let value = root;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) && !INDEX.test(step)) return undefined;
    if (!Object.hasOwn(value, step)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}
