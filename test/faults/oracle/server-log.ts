/** Lines of PostgreSQL's log that tell of two transactions waiting for each other. */
export function deadlocksIn(log: string): string[] {
  return log.split('\n').filter((line) => /deadlock/i.test(line));
}
