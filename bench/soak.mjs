import { runLoad } from './load/run-load.mjs';
import { batchLoad } from './scenarios/batches.mjs';
import { MEMORY_MIB_MAX, memoryOf } from './scenarios/memory.mjs';
import { newEvents } from './scenarios/single-events.mjs';

const LOOK_SECONDS = 30;
const BATCH = 200;
const CONNECTIONS = 64;

/**
 * Full load for so many seconds, half by single events and half by batches. Prints the resident memory of each process, which
 * must come to rest below its bar.
 */
export async function soak(bench, seconds, { workers }) {
  const service = await bench.service('soak', { WORKERS: workers });
  const began = performance.now();
  const report = () => {
    const at = Math.round((performance.now() - began) / 1_000);
    const sizes = memoryOf(service).map(({ who, mib }) => `${who} ${mib.toFixed(0)} MiB`);
    process.stdout.write(`${String(at).padStart(5)} s  ${sizes.join(', ')}\n`);
  };
  report();
  const looking = setInterval(report, LOOK_SECONDS * 1_000);
  const jobs = { 'single events': newEvents(service), [`batches of ${BATCH}`]: batchLoad(service, BATCH) };
  for (const [name, job] of Object.entries(jobs)) {
    const times = { warmUpSeconds: 0, seconds: Math.floor(seconds / 2) };
    const load = { service, server: bench.server, tool: bench.options.load };
    const { rate, p50, p99 } = await runLoad(load, { connections: CONNECTIONS, ...times, ...job });
    const speed = `${Math.round(rate)} requests/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
    process.stdout.write(`${name}: ${speed}\n`);
  }
  clearInterval(looking);
  report();
  const most = Math.max(...memoryOf(service).map(({ mib }) => mib));
  const verdict = most <= MEMORY_MIB_MAX ? 'met' : 'MISSED';
  process.stdout.write(`largest process: ${most.toFixed(0)} MiB, bar ≤ ${MEMORY_MIB_MAX} MiB: ${verdict}\n`);
}
