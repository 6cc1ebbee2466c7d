/** Whether a field of a JSON body is absent: null means the same (contract section 1). */
export function isAbsent<T>(value: T): value is T & (null | undefined) {
  return value === null || value === undefined;
}
