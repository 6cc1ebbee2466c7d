import { runLoad } from './load/run-load.mjs';
import { residentMib } from './measure/cpu.mjs';
import { newEvents } from './scenarios/single-events.mjs';

const LOOK_SECONDS = 30;

/** Full load for so many seconds; prints the service's resident memory, which must come to rest. */
export async function soak(bench, seconds) {
  const service = await bench.service('auto');
  const began = performance.now();
  const report = () => {
    const at = Math.round((performance.now() - began) / 1_000);
    process.stdout.write(`${String(at).padStart(5)} s  ${residentMib(service.pid).toFixed(0)} MiB\n`);
  };
  report();
  const looking = setInterval(report, LOOK_SECONDS * 1_000);
  const job = { connections: 64, warmUpSeconds: 0, seconds, ...newEvents(service) };
  const { rate, p50, p99 } = await runLoad({ service, server: bench.server, tool: bench.options.load }, job);
  clearInterval(looking);
  report();
  process.stdout.write(`${Math.round(rate)} events/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms\n`);
}
