import { isErrno } from '../../errors/error-summary';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';

/** An account to run a program as. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export interface ProgramOptions {
  readonly cwd?: string;
  /** Undefined: the account of this process. */
  readonly as?: Account | undefined;
}

export interface ProgramResult {
  /** Undefined: it could not be started, or a signal ended it. */
  readonly exitCode: number | undefined;
  readonly output: string;
}

/**
 * The whole environment of PostgreSQL and its shell. They may run as an account that others share, and a process shows
 * its environment to its account: the credentials of the service stay out of it, as do PGDATA, PGPORT and the like.
 */
export const PROGRAM_ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
} as const;

/** Runs a program to its end and collects what it says. Never throws: a program that cannot start has no exit code. */
export async function runProgram(
  command: string,
  args: readonly string[],
  { cwd = '/', as }: ProgramOptions = {},
): Promise<ProgramResult> {
  const ended = new Promise<ProgramResult>((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: PROGRAM_ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'], ...as });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', reject);
    child.on('close', (exitCode) => {
      resolve({ exitCode: exitCode ?? undefined, output });
    });
  });
  return await ended.catch((error: unknown) => ({ exitCode: undefined, output: String(error) }));
}

/**
 * Tells a process from every other that had or will have its pid, after a reboot too. Undefined: there is no such
 * process, or only its zombie, which holds nothing any more but still answers `kill -0`.
 */
export function processIdentity(pid: number): string | undefined {
  const started = hasProc() ? startedAccordingToProc(pid) : startedAccordingToPs(pid);
  return started === undefined ? undefined : shortHash(started);
}

/** Among which processes a pid means something: another one for each container. */
export function processNamespace(): string {
  try {
    return shortHash(`${bootId()} ${readlinkSync('/proc/self/ns/pid')}`);
  } catch {
    return 'all';
  }
}

/** The command line of a process, with spaces between the arguments; empty where there is none to be had. */
export function processCommand(pid: number): string {
  if (!hasProc()) {
    return psColumns(pid, 'command=');
  }
  return readOrEmpty(`/proc/${String(pid)}/cmdline`).replaceAll('\0', ' ');
}

/** Whether the pid is taken in the kernel's eyes, zombies included. */
export function pidIsTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isErrno(error, 'EPERM');
  }
}

function hasProc(): boolean {
  return readOrEmpty('/proc/self/stat') !== '';
}

function startedAccordingToProc(pid: number): string | undefined {
  // "pid (name) state …": the name may hold spaces and brackets, so fields are counted from its last bracket.
  const stat = readOrEmpty(`/proc/${String(pid)}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const startTicks = fields[19];
  if (state === undefined || startTicks === undefined || 'ZXx'.includes(state)) {
    return undefined;
  }
  // Ticks count from the boot, so they say nothing without it.
  return `${bootId()} ${startTicks}`;
}

function bootId(): string {
  return readOrEmpty('/proc/sys/kernel/random/boot_id').trim();
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}

function startedAccordingToPs(pid: number): string | undefined {
  if (!pidIsTaken(pid)) {
    return undefined;
  }
  const [state = '', ...started] = psColumns(pid, 'stat=,lstart=').split(/\s+/);
  return state.startsWith('Z') ? undefined : started.join(' ');
}

function psColumns(pid: number, columns: string): string {
  const listed = spawnSync('ps', ['-o', columns, '-p', String(pid)], { encoding: 'utf8', env: PROGRAM_ENVIRONMENT });
  return listed.status === 0 ? listed.stdout.trim() : '';
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
