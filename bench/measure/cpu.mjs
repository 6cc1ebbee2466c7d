import { readdirSync, readFileSync } from 'node:fs';

const MS_PER_TICK = 10;

/**
 * Begins to measure the CPU of process trees, { name: pid }; the returned function ends it and answers milliseconds by name. What a child
 * that has ended had used counts for its parent. NaN off Linux, and where a pid is undefined.
 */
export function cpuMeter(pids) {
  const began = cpuOf(pids);
  return () => {
    const ended = cpuOf(pids);
    return Object.fromEntries(Object.keys(pids).map((name) => [name, ended[name] - began[name]]));
  };
}

/** The CPU in milliseconds of programs that this process has started and that have ended. */
export function endedProgramsCpuMs() {
  const fields = read('/proc/self/stat').split(') ').at(-1).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * MS_PER_TICK;
}

/** The CPU in milliseconds that a process and those below it have used. */
export function cpuMsOf(pid) {
  return cpuOf({ all: pid }).all;
}

/** Resident memory of each process of a tree, in MiB, its root first; pages that processes share are left out. */
export function residentMib(pid) {
  return treeOf(pid, processTable()).map(({ pid: own }) => {
    const [, resident, shared] = read(`/proc/${own}/statm`).split(' ').map(Number);
    return ((resident - shared) * 4) / 1024;
  });
}

function cpuOf(pids) {
  const processes = processTable();
  const ticksOf = (pid) => treeOf(pid, processes).reduce((sum, { ticks }) => sum + ticks, 0);
  // The processes of a server at another address are not known.
  const total = (pid) => (pid === undefined ? Number.NaN : ticksOf(pid) * MS_PER_TICK);
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, total(pid)]));
}

function treeOf(pid, processes) {
  const root = processes.filter((each) => each.pid === pid);
  const below = processes.filter((each) => each.parent === pid).flatMap((each) => treeOf(each.pid, processes));
  return [...root, ...below];
}

function processTable() {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((name) => {
    // The name of the program stands in parentheses and may hold anything.
    const fields = read(`/proc/${name}/stat`).split(') ').at(-1).split(' ');
    if (fields.length < 15) return [];
    const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
    return [{ pid: Number(name), parent: Number(fields[1]), ticks }];
  });
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
