/** What whoever is at the terminal is told of anything that was thrown; not for logs and clients (see `describeError`). */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : 'Something was thrown that is no error.';
}
