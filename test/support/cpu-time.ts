/** Processor time of this process since `started`, in milliseconds: unlike the clock's it does not grow when others work too. */
export function cpuMsSince(started: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000;
}
