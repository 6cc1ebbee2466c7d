import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuMeter } from '../measure/cpu.mjs';
import { runProgram } from './programs.mjs';

const TENANT = '0190a000-0000-7000-8000-000000000001';
const PROPERTIES = '{"amount": 49.9, "currency": "EUR", "items": 3, "campaign": "spring"}';

/** Rows for COPY in a file that is made beforehand; `remove` it at the end. */
export async function copyFile(rows) {
  const folder = mkdtempSync(join(tmpdir(), 'cds-bench-copy-'));
  const path = join(folder, 'rows.tsv');
  const file = createWriteStream(path);
  for (let row = 0; row < rows; row += 1) {
    const identity = `{"type": "EXTERNAL", "value": "customer-${row % 10_000}"}`;
    const names = `shop.orders\torder-${row}\torder.paid\t2026-01-05T10:00:00Z\t2026-01-05T10:00:01Z`;
    if (!file.write(`${TENANT}\t${randomUUID()}\t${names}\t${identity}\t${PROPERTIES}\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'finish');
  return { path, rows, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** COPY of those rows by one connection into an empty table; rows a second. */
export async function runCopy({ server, database }, { path, rows }) {
  await server.query(database, 'TRUNCATE bench_events');
  const stop = cpuMeter({ postgres: server.pid });
  const began = performance.now();
  await runProgram('psql', ['-qc', `\\copy bench_events FROM '${path}'`, server.urlOf(database)]);
  const seconds = (performance.now() - began) / 1_000;
  return { rate: rows / seconds, cpu: { postgres: (stop().postgres * 1_000) / rows } };
}
