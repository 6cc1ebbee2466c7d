/** Processor time of this process since `started`, in milliseconds: unlike the clock's it does not grow when others work too. */
export function cpuMsSince(started: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000;
}

/** What `work` returns, its processor time, and that of its longest turn of the event loop, in milliseconds. */
export async function longestTurnOf<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly longestMs: number; readonly wholeMs: number }> {
  let longest = 0;
  const begun = process.cpuUsage();
  let started = begun;
  const look = (): void => {
    longest = Math.max(longest, cpuMsSince(started));
    started = process.cpuUsage();
    immediate = setImmediate(look);
  };
  let immediate = setImmediate(look);
  try {
    return { result: await work(), longestMs: longest, wholeMs: cpuMsSince(begun) };
  } finally {
    clearImmediate(immediate);
  }
}
