/** Joins class names; those that are not given are left out. */
export function classes(...names: readonly (string | false | undefined)[]): string {
  return names.filter((name) => name !== undefined && name !== false && name !== '').join(' ');
}
