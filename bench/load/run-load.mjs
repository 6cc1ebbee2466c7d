import { cpuMeter } from '../measure/cpu.mjs';

/**
 * Puts a service under load and answers what came of it: requests a second, percentiles in milliseconds, and the CPU of each
 * side a request, in microseconds. Any answer that was not expected makes the measurement void. `tool`: see load-tool.mjs.
 */
export async function runLoad({ service, server, tool }, job) {
  const meter = (load) => cpuMeter({ service: service.pid, postgres: server.pid, ...load });
  const { answers, seconds, p50, p95, p99, cpuMs, unexpected } = await tool.run({ url: service.url, ...job }, meter);
  if (unexpected.length > 0) {
    throw new Error(`Unexpected answers [status, count]: ${JSON.stringify(unexpected)}`);
  }
  const perRequest = Object.entries(cpuMs).map(([who, ms]) => [who, (ms * 1_000) / answers]);
  return { rate: answers / seconds, p50, p95, p99, cpu: Object.fromEntries(perRequest) };
}
