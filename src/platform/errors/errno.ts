/** Whether an error of the operating system has one of these codes. By the code alone: under Jest an error of `node:fs` is no `Error` of the module that catches it. */
export function isErrno(error: unknown, ...codes: readonly string[]): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && codes.includes(code);
}
