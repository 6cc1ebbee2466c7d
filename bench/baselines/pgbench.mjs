import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuMeter, endedProgramsCpuMs } from '../measure/cpu.mjs';
import { percentilesOf } from '../measure/percentiles.mjs';
import { runProgram } from './programs.mjs';

const SAMPLED = 0.1;

/**
 * Runs one script with so many clients, prepared statements over the unix socket, and answers transactions a second and
 * percentiles in milliseconds, as `runLoad` does for the service.
 */
export async function runPgbench({ server, database }, script, { clients = 64, seconds, threads = 2 }) {
  const logs = mkdtempSync(join(tmpdir(), 'cds-bench-log-'));
  const file = fileURLToPath(new URL(script, import.meta.url));
  try {
    const stop = cpuMeter({ postgres: server.pid });
    const loadMs = endedProgramsCpuMs();
    const output = await runProgram('pgbench', [
      '-n',
      '-c',
      String(clients),
      '-j',
      String(threads),
      '-M',
      'prepared',
      '-T',
      String(seconds),
      '-f',
      file,
      '--log',
      `--sampling-rate=${SAMPLED}`,
      `--log-prefix=${join(logs, 'log')}`,
      server.urlOf(database),
    ]);
    const cpuMs = { ...stop(), load: endedProgramsCpuMs() - loadMs };
    const rate = Number(/tps = ([\d.]+)/.exec(output)?.[1]);
    const count = Number(/actually processed: (\d+)/.exec(output)?.[1]);
    if (!(rate > 0)) throw new Error(`pgbench did not say how fast it was:\n${output}`);
    const perTransaction = (ms) => (ms * 1_000) / count;
    const cpu = { postgres: perTransaction(cpuMs.postgres), load: perTransaction(cpuMs.load) };
    return { rate, ...percentilesOf(durationsIn(logs)), cpu };
  } finally {
    rmSync(logs, { recursive: true, force: true });
  }
}

/** The third column of pgbench's log is the time of a transaction in microseconds. */
function durationsIn(folder) {
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
  return lines.filter((line) => line !== '').map((line) => Number(line.split(' ')[2]) / 1_000);
}
