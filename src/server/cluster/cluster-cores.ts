import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';

const ALLOWED = /^Cpus_allowed_list:\s*([\d,-]+)$/m;
const RANGE = /^(\d+)(?:-(\d+))?$/;

/** The numbers of the cores that a process may run on, this one or another; none where the system does not tell (it is not Linux). */
export function allowedCores(pid: number | 'self' = 'self'): readonly number[] {
  try {
    return coresIn(ALLOWED.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '');
  } catch {
    return [];
  }
}

/** A list as Linux writes it, such as `0-2,5`. */
export function coresIn(list: string): readonly number[] {
  return list.split(',').flatMap((range) => {
    const [, first, last = first] = RANGE.exec(range) ?? [];
    if (first === undefined) return [];
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_unused, index) => Number(first) + index);
  });
}

/** Has a process run on this core only, with all its threads, by the `taskset` of the system; without one it stays as it is. */
export function keepToCore(pid: number, core: number): void {
  execFile('taskset', ['-a', '-p', '-c', String(core), String(pid)], () => undefined);
}
