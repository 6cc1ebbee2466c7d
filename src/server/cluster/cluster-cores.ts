import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';

const ALLOWED = /^Cpus_allowed_list:\s*([\d,-]+)$/m;
const RANGE = /^(\d+)(?:-(\d+))?$/;

/** The numbers of the cores that a process may run on. Empty on systems other than Linux. */
export function allowedCores(pid: number | 'self' = 'self'): readonly number[] {
  try {
    return coresIn(ALLOWED.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '');
  } catch {
    return [];
  }
}

/** Parses a list of cores in the format of Linux, such as `0-2,5`. */
export function coresIn(list: string): readonly number[] {
  return list.split(',').flatMap((range) => {
    const [, first, last = first] = RANGE.exec(range) ?? [];
    if (first === undefined) return [];
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_unused, index) => Number(first) + index);
  });
}

/** Pins a process with all its threads to a core by `taskset`. Does nothing where that is not installed. */
export function keepToCore(pid: number, core: number): void {
  execFile('taskset', ['-a', '-p', '-c', String(core), String(pid)], () => undefined);
}
