import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { percentilesOf } from './percentiles.mjs';

const FSYNCS = 300;

/** What the numbers depend on, as lines of Markdown. `folder`: where the database lives, if that is known. */
export function machineLines(folder, postgresVersion) {
  return [
    `CPU: ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, shared by PostgreSQL, the service and the load generator`,
    `memory: ${(totalmem() / 2 ** 30).toFixed(0)} GiB; kernel: ${release()}${container()}`,
    `load average before it began: ${loadavg()[0].toFixed(1)} (where it is above 1, other programs ran, and ratios are less than they could be)`,
    ...(folder === undefined
      ? [`Node.js ${process.version}, PostgreSQL ${postgresVersion} at --server`]
      : diskLines(folder, postgresVersion)),
  ];
}

function diskLines(folder, postgresVersion) {
  const { p50, p99 } = fsyncLatency(folder);
  return [
    `Node.js ${process.version}, PostgreSQL ${postgresVersion}, fsync and synchronous_commit on`,
    `a write of 8 KiB and fsync on the database's disk: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`,
  ];
}

function fsyncLatency(folder) {
  const path = join(folder, 'fsync-probe');
  const file = openSync(path, 'w');
  const page = new Uint8Array(8_192);
  const samples = Array.from({ length: FSYNCS }, () => {
    const began = performance.now();
    writeSync(file, page, 0, page.length, 0);
    fsyncSync(file);
    return performance.now() - began;
  });
  closeSync(file);
  rmSync(path);
  return percentilesOf(samples);
}

function container() {
  try {
    return /docker|containerd|kubepods/.test(readFileSync('/proc/1/cgroup', 'utf8')) ? ', in a container' : '';
  } catch {
    return '';
  }
}
